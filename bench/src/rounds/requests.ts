import type { Running } from '../contenders/contender.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { checkOf } from '../load/common/expectation.ts'
import { SATURATED, type LoadPlan, type LoadRequest, type LoadResult } from '../load/load.ts'
import { generators, type Generator } from '../load/generators.ts'
import { PINS, processorSeconds, residentMegabytes } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { percent, tenth, whole } from '../report/numbers.ts'
import type { Figures, How, Row } from '../row.ts'

/** What to send, but for where, how fast and for how long. */
export interface Requests extends Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'> {
  /** In words, for "on the serving thread under ...". */
  readonly says: string
}

/** Of what the server and the generator together can do. */
const OPEN_LOOP_SHARE = 0.7

type Way = Pick<LoadPlan, 'duration' | 'warmUp' | 'rate' | 'percentiles' | 'shares'>

/** Asks, pinned to the generator's processor unless that is shared. @throws Error unless there were replies and all were right */
export async function ask(
  { url, others }: Pick<Running, 'url' | 'others'>,
  requests: Omit<Requests, 'says'>,
  way: Way,
  generator: Generator = 'raw',
): Promise<LoadResult> {
  const result = await generators[generator]({
    url,
    others,
    ...requests,
    ...way,
    ...(!way.shares && { pin: PINS.client }),
  })
  const { errors, wrong } = result
  if (errors > 0) throw new Error(`${errors} requests got no reply`)
  if (wrong > 0) throw new Error(`${wrong} replies were wrong`)
  if (result.requests === 0) throw new Error('no request was answered')
  return result
}

/** @returns what a request of a load costs the server, too, and what it stands on, where that is told apart (us) */
export async function watched<T extends Pick<LoadResult, 'requests'>>(
  { pid, beside = [], below = [] }: Running,
  load: () => Promise<T>,
): Promise<T & { readonly costs: number; readonly below: number }> {
  const spent = () => [processorSeconds(pid, ...beside), processorSeconds(...below)] as const
  const before = spent()
  const result = await load()
  const [costs, of] = spent().map((seconds, i) => ((seconds - before[i]!) / result.requests) * 1e6)
  return { ...result, costs: costs!, below: of! }
}

/** Adds the share of one processor that a server took during a load. @param seconds the processor seconds that it has used */
export async function withShare<T extends object>(
  seconds: () => number | Promise<number>,
  load: () => Promise<T>,
): Promise<T & { readonly share: number }> {
  const [before, began] = [await seconds(), performance.now()]
  const result = await load()
  const elapsed = (performance.now() - began) / 1000
  return { ...result, share: ((await seconds()) - before) / elapsed }
}

/** Asks in a closed loop for some seconds. @returns what that costs the server, too (us a request) */
export async function askAndWatch(running: Running, requests: Omit<Requests, 'says'>, way: Way, generator?: Generator) {
  return watched(running, () => ask(running, requests, way, generator))
}

/**
 * A round of requests: a warm-up, a closed loop, which tells what a server can do, and, where that is wanted, an open one
 * at 70 % of it, which tells how long a request takes. A pipeline has no pace and no open loop.
 */
async function requestRound(running: Running, given: Omit<Requests, 'says'>, how: How): Promise<Figures> {
  const { duration, warmUp, paced, generator } = how
  const requests = { ...given, connections: how.connections ?? given.connections }
  if (how.throughout) return { ...(await ask(running, requests, { duration, warmUp, rate: how.rate })).latency }
  await ask(running, requests, { duration: warmUp, warmUp: 0 }, generator)
  const can = await askAndWatch(running, requests, { duration, warmUp: 0 }, generator)
  const memory = residentMegabytes(running.pid)
  const figures = { cpu: can.costs, perSecond: can.perSecond, memory, generator: can.cpu }
  if (given.pipeline !== undefined) return { ...figures, ...can.latency, rate: 'closed loop' }
  if (!paced) return figures
  const rate = Math.max(1, Math.floor(OPEN_LOOP_SHARE * can.perSecond))
  // Warmed up again, because the generator is a new process: cold, it falls 200 ms behind at 40,000 requests/s.
  const { latency, lateness } = await ask(running, requests, { duration, warmUp, rate })
  return { ...figures, ...latency, rate, lateness: lateness! }
}

/** How a row of requests is measured. */
export const asking = ({ says, ...requests }: Requests): Pick<Row, 'round' | 'says' | 'requests'> => ({
  says,
  requests,
  round: (running, how) => requestRound(running, requests, how),
})

/** Some services answer right only with the next refresh of a cache (ms). */
const READY_TIMEOUT = 30_000

/** Proves the answers to the first and the last of some requests. @throws Error that tells a wrong one */
export async function prove({ url }: Pick<Running, 'url'>, { requests, expect }: Requests): Promise<void> {
  const all = requests as readonly LoadRequest[]
  const check = checkOf(expect)
  for (const { path, ...request } of new Set([all.at(0)!, all.at(-1)!])) {
    for (const end = Date.now() + READY_TIMEOUT; ; await delay(100)) {
      const reply = await fetch(url + path, request)
      const body = Buffer.from(await reply.arrayBuffer())
      if (check(reply.status, body)) break
      if (reply.status !== expect.status && Date.now() < end) continue
      throw new Error(`${path} was answered ${reply.status}: ${body.toString('utf8', 0, 200)}`)
    }
  }
}

/** The same where requests are no drawn ones, and who is asked is proved before. @param make what they ask for */
export const asked = (
  requests: Requests,
  make: (running: Running) => Promise<void> = async () => {},
): Pick<Row, 'prepare' | 'round' | 'says' | 'requests'> => ({
  ...asking(requests),
  async prepare(running) {
    await make(running)
    await prove(running, requests)
  },
})

/** A share of a processor, and whether it was all that could be had. */
export const shareOf = (share: number): string => `${percent(share)}${share >= SATURATED ? ' (the limit)' : ''}`

/** The columns of a table of requests. */
export const REQUESTS: Columns = {
  cpu: {
    head: 'CPU us/request',
    format: tenth,
    of: 'spread',
    ratio: true,
    plot: 'Server processor time a request (us; less is better)',
  },
  perSecond: {
    head: 'requests/s',
    format: whole,
    of: 'spread',
    ratio: true,
    better: 'more',
    plot: 'Requests a second',
  },
  p50: { head: 'p50 us', format: whole, better: 'less' },
  p90: { head: 'p90 us', format: whole, better: 'less' },
  p99: { head: 'p99 us', format: whole, better: 'less' },
  p999: { head: 'p99.9 us', format: whole },
  max: { head: 'max us', format: whole, better: 'less' },
  rate: { head: 'at requests/s', format: whole },
  lateness: { head: 'generator late p99 us', format: whole },
  memory: { head: 'RSS MB', format: whole, plot: 'Resident memory (MB)' },
  generator: { head: 'generator CPU', format: shareOf, of: 'max' },
  'source: perSecond': { head: 'source/s', format: whole },
}
