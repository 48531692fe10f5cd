import { setTimeout as delay } from 'node:timers/promises'
import { createCheck, needsBodies } from './common/expectation.ts'
import { GRACE_S, createProcessRunner } from './common/process-runner.ts'
import { LoadTally } from './common/tally.ts'
import type { LoadPlan, LoadResult } from './load-plan.ts'
import { RawConnection, type RawTarget } from './raw/raw-connection.ts'
import { ClosedLoop, createRoundRobin, OpenLoop, type NextRequest } from './raw/loops.ts'
import { drawRequests } from './requests/drawers.ts'
import { prepareRequest } from './requests/request-bytes.ts'

/** Time for all connections together to open, before the first request is due (ms). */
const OPEN_TIMEOUT_MS = 2000

/** @throws Error if the URL is not of http */
export function toTarget(url: URL, plan: Pick<LoadPlan, 'expect' | 'requests'>): RawTarget {
  if (url.protocol !== 'http:') throw new Error(`raw speaks http only, not ${url.protocol}`)
  return {
    // WHATWG URLs include the brackets of an IPv6 address.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 80),
    check: createCheck(plan.expect),
    readsBodies: needsBodies(plan.expect) || 'drawer' in plan.requests,
  }
}

/** The requests of a plan: drawn, or in turn. */
export const createRequestSource = ({ requests }: Pick<LoadPlan, 'requests'>, host: string): NextRequest =>
  'drawer' in requests
    ? drawRequests(requests, host)
    : createRoundRobin(requests.map((request) => prepareRequest(host, request)))

export async function measureRaw(plan: LoadPlan): Promise<LoadResult> {
  const targets = [plan.url, ...(plan.others ?? [])].map((url) => toTarget(new URL(url), plan))
  const { host } = new URL(plan.url)
  const { pipeline } = plan
  if (pipeline !== undefined && plan.rate !== undefined) throw new Error('an open loop has no pipelines')
  const next = createRequestSource(plan, host)
  const open =
    plan.rate === undefined ? undefined : new OpenLoop(next, plan.rate, { sleeps: plan.shares !== undefined })
  const loop = open ?? new ClosedLoop(next, pipeline)

  const connections = Array.from(
    { length: plan.connections },
    (_, i) => new RawConnection(targets[i % targets.length]!, loop),
  )
  await Promise.race([
    Promise.all(connections.map(({ firstAttempt: tried }) => tried)),
    delay(OPEN_TIMEOUT_MS, undefined, { ref: false }),
  ])

  const start = performance.now()
  const from = start + plan.warmUp * 1000
  const until = from + plan.duration * 1000
  const tally = new LoadTally(from, until)
  loop.start(connections, tally, start)

  await delay(from - performance.now())
  const began = { cpu: process.cpuUsage(), at: performance.now() }
  await delay(until - performance.now())
  const { user, system } = process.cpuUsage(began.cpu)
  const cpu = (user + system) / 1000 / (performance.now() - began.at)

  const deadline = until + GRACE_S * 1000
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
    ...(open && { lateness: open.lateness.getPercentile(99) }),
    ...(open && { idle: open.getIdleShare(cpu) }),
  }
}

/**
 * The load generator: prepared bytes on `node:net`. It checks the status and body of every reply, and supports closed
 * and open loops and pipelining. A request takes 5.5-7.5 us of processor (wrk 5.9-8.3), even if each reply has its own
 * id, and 8.3 us if replies differ in more. The maximum is 170,000 requests a second.
 *
 * Always ends within the plan's seconds and a grace of 3 s; the process is killed 15 s later.
 * @throws Error if the plan is not supported, or if the run gave no result
 */
export const runRaw = createProcessRunner(import.meta.url, measureRaw)
