import { setTimeout as delay } from 'node:timers/promises'
import { drawRequests } from '../requests/drawers.ts'
import { checkOf, readsBodies } from '../common/expectation.ts'
import type { LoadPlan, LoadResult } from '../load.ts'
import { RawConnection, type Target } from './connection.ts'
import { createClosedLoop } from './closed-loop.ts'
import { inTurn } from './loop.ts'
import { OpenLoop } from './open-loop.ts'
import { readyRequest } from '../requests/request-bytes.ts'
import { GRACE } from '../common/own-process.ts'
import { Tally } from '../common/tally.ts'

/** Milliseconds that all connections together get to open before the first request is due. */
const OPENING = 2000

/** Runs a plan inside this process. */
export async function runRaw(plan: LoadPlan): Promise<LoadResult> {
  const url = new URL(plan.url)
  if (url.protocol !== 'http:') throw new Error(`raw speaks http only, not ${url.protocol}`)
  const target: Target = {
    // WHATWG keeps the brackets of an IPv6 address.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number(url.port || 80),
    check: checkOf(plan.expect),
    readsBodies: readsBodies(plan.expect) || 'drawer' in plan.requests,
  }
  const { requests, pipeline } = plan
  if (pipeline !== undefined && plan.rate !== undefined) throw new Error('an open loop has no pipelines')
  const next =
    'drawer' in requests
      ? drawRequests(requests, url.host)
      : inTurn(requests.map((request) => readyRequest(url.host, request)))
  const open = plan.rate === undefined ? undefined : new OpenLoop(next, plan.rate)
  const loop = open ?? createClosedLoop(next, pipeline)

  const connections = Array.from({ length: plan.connections }, () => new RawConnection(target, loop))
  await Promise.race([Promise.all(connections.map(({ tried }) => tried)), delay(OPENING, undefined, { ref: false })])

  const start = performance.now()
  const from = start + plan.warmUp * 1000
  const until = from + plan.duration * 1000
  const tally = new Tally(from, until)
  loop.start(connections, tally, start)

  await delay(from - performance.now())
  const began = { cpu: process.cpuUsage(), at: performance.now() }
  await delay(until - performance.now())
  const { user, system } = process.cpuUsage(began.cpu)
  const cpu = (user + system) / 1000 / (performance.now() - began.at)

  const deadline = until + GRACE * 1000
  while (loop.outstanding() > 0 && performance.now() < deadline) await delay(2)
  loop.abandon(connections, performance.now())
  for (const connection of connections) connection.close()

  return {
    generator: 'raw',
    requests: tally.requests,
    seconds: plan.duration,
    perSecond: tally.replies / plan.duration,
    latency: tally.times.latency(),
    ...(plan.percentiles && {
      percentiles: Object.fromEntries(plan.percentiles.map((one) => [one, tally.times.at(one)])),
    }),
    resolution: 1,
    errors: tally.errors,
    wrong: tally.wrong,
    cpu,
    ...(open && { lateness: { p50: open.lateness.at(50), p99: open.lateness.at(99), max: open.lateness.max } }),
  }
}
