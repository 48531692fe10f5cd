import type { EventEmitter } from 'node:events'
import autocannon, { type Client, type Request } from 'autocannon'
import { checkOf, readsBodies } from '../common/expectation.ts'
import type { LoadPlan, LoadResult, TurnPlan } from '../load.ts'
import { mustSuit } from '../common/must-suit.ts'
import { GRACE } from '../common/own-process.ts'
import { Microseconds } from '../common/tally.ts'

/** So many errors end a run: it is no result already, and autocannon connects again without a pause. */
const BAILOUT = 1000
/** Milliseconds between autocannon's looks at the clock. With its default of 1 s a run of 0.5 s would take 1 s. */
const SAMPLING = 50

interface Counts {
  readonly times: Microseconds
  sent: number
  replies: number
  wrong: number
  /** Connections whose request has waited longer than the grace, or that never got a reply. */
  stuck(now: number): number
}

/** Runs a plan inside this process: the warm-up as a run of its own, then what counts. */
export async function runAutocannon(plan: LoadPlan): Promise<LoadResult> {
  // Its -R corrects for the wrong interval (seconds taken for milliseconds), so it is no open loop.
  mustSuit(plan, 'autocannon')
  if (plan.warmUp > 0) await fire(plan, plan.warmUp)
  const before = { cpu: process.cpuUsage(), at: performance.now() }
  const { counts, errors } = await fire(plan, plan.duration)
  const { user, system } = process.cpuUsage(before.cpu)
  const seconds = (performance.now() - before.at) / 1000

  const stuck = counts.stuck(performance.now())
  // A reply that was cut is no error to autocannon: it only asks again. Each connection has one request under way.
  const cut = counts.sent - counts.replies - plan.connections
  return {
    generator: 'autocannon',
    requests: counts.replies,
    seconds,
    perSecond: counts.replies / seconds,
    latency: counts.times.latency(),
    resolution: 1,
    errors: Math.max(errors, cut, 0) + stuck,
    wrong: counts.wrong,
    cpu: (user + system) / 1e6 / seconds,
  }
}

/** One run. autocannon's own histogram knows whole milliseconds only, so latencies are taken off its clients. */
async function fire(plan: TurnPlan, duration: number): Promise<{ counts: Counts; errors: number }> {
  const check = checkOf(plan.expect)
  const bodies = readsBodies(plan.expect)
  const lastReplies: { at: number }[] = []
  const began = performance.now()
  const counts: Counts = {
    times: new Microseconds(),
    sent: 0,
    replies: 0,
    wrong: 0,
    stuck: (now) => lastReplies.filter(({ at }) => at === began || now - at > GRACE * 1000).length,
  }
  let status = 0

  function setupClient(client: Client): void {
    const last = { at: began }
    lastReplies.push(last)
    // Its types know one of its events.
    const events: EventEmitter = client
    events.on('request', () => counts.sent++)
    // The latency is in milliseconds, with a fraction.
    events.on('response', (code: number, _bytes: number, latency: number) => {
      status = code
      counts.replies++
      counts.times.record(latency)
      last.at = performance.now()
      if (!bodies && code !== plan.expect.status) counts.wrong++
    })
  }

  const result = await autocannon({
    url: plan.url,
    connections: plan.connections,
    duration,
    sampleInt: SAMPLING,
    bailout: BAILOUT,
    requests: plan.requests.map(({ headers, ...request }) => ({ ...request, headers: { ...headers } }) as Request),
    setupClient,
    // Called right after 'response', for the same reply.
    verifyBody: (body) => {
      if (bodies && !check(status, Buffer.from(String(body)))) counts.wrong++
      return true
    },
  })
  return { counts, errors: result.errors }
}
