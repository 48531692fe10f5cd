import { setTimeout as delay } from 'node:timers/promises'
import { startOwnMeter } from '../processes.ts'
import { createCheck, needsBodies } from './common/expectation.ts'
import { createProcessRunner, getGraceSeconds } from './common/process-runner.ts'
import { LoadTally } from './common/tally.ts'
import type { LoadPlan, LoadResult } from './load-plan.ts'
import { RawConnection, type RawTarget } from './raw/raw-connection.ts'
import { ClosedLoop, createRoundRobin, OpenLoop, type NextRequest } from './raw/loops.ts'
import { drawRequests } from './requests/drawers.ts'
import { prepareRequest } from './requests/request-bytes.ts'

/** Maximum time in which all connections open, before the first request is due (ms). */
const OPEN_TIMEOUT_MS = 2000

/** Converts a URL to the address of a connection. @throws Error if the URL is not of http */
export function toTarget(url: URL, plan: Pick<LoadPlan, 'expect' | 'requests'>): RawTarget {
  if (url.protocol !== 'http:') throw new Error(`the generator raw supports only http, not ${url.protocol}`)
  return {
    // WHATWG URLs include the brackets of an IPv6 address.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 80),
    check: createCheck(plan.expect),
    readsBodies: needsBodies(plan.expect) || 'drawer' in plan.requests,
  }
}

/** Creates the source of the requests of a plan. */
export const createRequestSource = ({ requests }: Pick<LoadPlan, 'requests'>, host: string): NextRequest =>
  'drawer' in requests
    ? drawRequests(requests, host)
    : createRoundRobin(requests.map((request) => prepareRequest(host, request)))

export async function measureRaw(plan: LoadPlan): Promise<LoadResult> {
  const targets = [plan.url, ...(plan.others ?? [])].map((url) => toTarget(new URL(url), plan))
  const { pipeline } = plan
  if (pipeline !== undefined && plan.rate !== undefined) throw new Error('an open loop has no pipelines')
  const next = createRequestSource(plan, new URL(plan.url).host)
  const open =
    plan.rate === undefined ? undefined : new OpenLoop(next, plan.rate, { sleeps: plan.shares !== undefined })
  const loop = open ?? new ClosedLoop(next, pipeline)

  const connections = Array.from(
    { length: plan.connections },
    (_, i) => new RawConnection(targets[i % targets.length]!, loop),
  )
  await Promise.race([
    Promise.all(connections.map(({ firstAttempt }) => firstAttempt)),
    delay(OPEN_TIMEOUT_MS, undefined, { ref: false }),
  ])

  const start = performance.now()
  const from = start + plan.warmUp * 1000
  const until = from + plan.duration * 1000
  const tally = new LoadTally(from, until)
  loop.start(connections, tally, start)

  await delay(from - performance.now())
  const readMeter = startOwnMeter()
  await delay(until - performance.now())
  const { cpu } = readMeter()

  const deadline = until + getGraceSeconds() * 1000
  while (loop.countOutstanding() > 0 && performance.now() < deadline) await delay(2)
  loop.abandon(connections, performance.now())
  for (const connection of connections) connection.close()

  return {
    requests: tally.requests,
    seconds: plan.duration,
    perSecond: tally.replies / plan.duration,
    latency: tally.times.toLatency(),
    ...(plan.percentiles && {
      percentiles: Object.fromEntries(plan.percentiles.map((one) => [one, tally.times.getPercentile(one)])),
    }),
    errors: tally.errors,
    wrong: tally.wrong,
    cpu,
    ...(open && { lateness: open.lateness.getPercentile(99), idle: open.getIdleShare(cpu) }),
  }
}

/**
 * Sends a load in a new process: prepared bytes on `node:net`, in closed or open loops, or with pipelining. The status
 * and body of every reply are checked. A request takes 5.5-7.5 us of processor time (wrk: 5.9-8.3 us), also if each
 * reply has a different id. If replies differ in more than an id, it takes 8.3 us. The maximum is 170,000 requests per
 * second.
 *
 * A run ends at most 3 s after the seconds of the plan. Otherwise the process is killed 15 s later.
 * @throws Error if the plan is not supported, or if the run gave no result
 */
export const runRaw = createProcessRunner(import.meta.url, measureRaw)
