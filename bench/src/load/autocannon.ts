import type { EventEmitter } from 'node:events'
import autocannon, { type Client, type Request } from 'autocannon'
import { startOwnMeter } from '../processes.ts'
import { createCheck, needsBodies } from './common/expectation.ts'
import { GRACE_S, createProcessRunner } from './common/process-runner.ts'
import { LatencyHistogram } from './common/tally.ts'
import type { LoadPlan, LoadResult } from './load-plan.ts'

/** Number of errors that ends a run, because the run has failed and autocannon would reconnect without a pause. */
const MAX_ERRORS = 1000
/** Interval at which autocannon checks the clock (ms). With its default of 1 s a run of 0.5 s would take 1 s. */
const SAMPLING_INTERVAL_MS = 50

/** Measures a plan with autocannon, after a separate run for the warm-up. */
export async function measureAutocannon(plan: LoadPlan): Promise<LoadResult> {
  if (plan.warmUp > 0) await sendRequests(plan, plan.warmUp)
  const readMeter = startOwnMeter()
  const { times, replies, wrong, errors } = await sendRequests(plan, plan.duration)
  const { seconds, cpu } = readMeter()
  return { requests: replies, seconds, perSecond: replies / seconds, latency: times.toLatency(), errors, wrong, cpu }
}

/**
 * Measures a plan with autocannon in a new process: a widely used generator, which is an independent check of `raw`. It
 * sends requests in turn, in closed loops, and the status and body of every reply are checked. The report of autocannon
 * has whole milliseconds, so latencies come from the events of its clients. Its maximum is half the rate of `raw`.
 * @throws Error if the plan is not supported, or if the run gave no result
 */
export const runAutocannon = createProcessRunner(import.meta.url, measureAutocannon)

/**
 * Converts the requests of a plan. autocannon cannot send an open loop, because its rate option treats seconds as
 * milliseconds. It cannot send HEAD, because it waits for the body of the announced length.
 */
function toAutocannonRequests({ requests, rate, pipeline, percentiles, others = [] }: LoadPlan): Request[] {
  const isMore = rate !== undefined || pipeline !== undefined || percentiles !== undefined || others.length > 0
  if (isMore || 'drawer' in requests || requests.some(({ method }) => method === 'HEAD'))
    throw new Error('autocannon supports only constant requests (no HEAD) to one server, in a closed loop')
  return requests.map(({ headers, ...request }) => ({ ...request, headers: { ...headers } }) as Request)
}

async function sendRequests(plan: LoadPlan, duration: number) {
  const check = createCheck(plan.expect)
  const bodies = needsBodies(plan.expect)
  const times = new LatencyHistogram()
  const began = performance.now()
  const lastReplies: { at: number }[] = []
  let [sent, replies, wrong, status] = [0, 0, 0, 0]

  function setupClient(client: Client): void {
    const last = { at: began }
    lastReplies.push(last)
    // The types of autocannon declare only one of the events.
    const events: EventEmitter = client
    events.on('request', () => sent++)
    // The latency is in milliseconds, with a fraction.
    events.on('response', (code: number, _bytes: number, latency: number) => {
      status = code
      replies++
      times.record(latency)
      last.at = performance.now()
      if (!bodies && code !== plan.expect.status) wrong++
    })
  }

  const { errors } = await autocannon({
    url: plan.url,
    connections: plan.connections,
    duration,
    sampleInt: SAMPLING_INTERVAL_MS,
    bailout: MAX_ERRORS,
    requests: toAutocannonRequests(plan),
    setupClient,
    // Called right after 'response', for the same reply.
    verifyBody(body) {
      if (bodies && !check(status, Buffer.from(String(body)))) wrong++
      return true
    },
  })
  const now = performance.now()
  const stuck = lastReplies.filter(({ at }) => at === began || now - at > GRACE_S * 1000).length
  // autocannon counts no error for a cut reply, but sends the request again. At the end each connection has one open
  // request, which is not cut.
  const cut = sent - replies - plan.connections
  return { times, replies, wrong, errors: Math.max(errors, cut, 0) + stuck }
}
