import type { TargetProcess } from '../targets/target.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { createCheck } from '../load/common/expectation.ts'
import { getSlowness } from '../machine.ts'
import { SATURATED_SHARE, type LoadPlan, type LoadRequest, type LoadResult } from '../load/load-plan.ts'
import { generators, type GeneratorName } from '../load/generators.ts'
import { watchSteal } from '../machine.ts'
import { PINS, getProcessorSeconds, getResidentMegabytes, getWaitingSeconds } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { formatPercent, formatTenth, formatWhole } from '../report/format-numbers.ts'
import type { RowMetrics, RoundOptions, BenchRow } from '../row.ts'
import { warmUpTarget } from './warm-up.ts'

/** The requests to send, without address, rate and duration. */
export interface RequestLoad extends Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'> {
  /** Description of the load, as in `BenchRow`. */
  readonly says: string
  /**
   * True if the generator of an open loop must not poll the clock, because a process that the target calls has the same
   * processor.
   */
  readonly sleeps?: boolean
}

type LoadTiming = Pick<LoadPlan, 'duration' | 'warmUp' | 'rate' | 'percentiles' | 'shares'>

/**
 * Sends requests from the processor of the generator (unless `timing.shares`).
 * @throws Error if a reply is missing or wrong
 */
export async function runLoad(
  { url, others }: Pick<TargetProcess, 'url' | 'others'>,
  requests: Omit<RequestLoad, 'says'>,
  timing: LoadTiming,
  generator: GeneratorName = 'raw',
): Promise<LoadResult> {
  const pin = timing.shares ? {} : { pin: PINS.client }
  const result = await generators[generator]({ url, others, ...requests, ...timing, ...pin })
  const { errors, wrong } = result
  if (errors > 0) throw new Error(`${errors} requests got no reply`)
  if (wrong > 0) throw new Error(`${wrong} replies were wrong`)
  if (result.requests === 0) throw new Error('no request got a reply')
  return result
}

/**
 * Runs a load.
 * @returns also the processor time per request (us): `costs` of the target, and `below` of the processes that it
 *   depends on
 */
export async function measureCosts<T extends Pick<LoadResult, 'requests'>>(
  { pid, extraPids = [], below = [] }: TargetProcess,
  load: () => Promise<T>,
): Promise<T & { readonly costs: number; readonly below: number }> {
  const spent = () => [getProcessorSeconds(pid, ...extraPids), getProcessorSeconds(...below)] as const
  const before = spent()
  const result = await load()
  const [costs, of] = spent().map((seconds, i) => ((seconds - before[i]!) / result.requests) * 1e6)
  return { ...result, costs: costs!, below: of! }
}

/**
 * Runs a load.
 * @returns also the processor share of the server during it.
 * @param seconds returns the processor seconds of the server
 */
export async function withShare<T extends object>(
  seconds: () => number | Promise<number>,
  load: () => Promise<T>,
): Promise<T & { readonly share: number }> {
  const [before, began] = [await seconds(), performance.now()]
  const result = await load()
  const elapsed = (performance.now() - began) / 1000
  return { ...result, share: ((await seconds()) - before) / elapsed }
}

/** Sends requests. @returns also the processor time of the server per request (us) */
export function runMeasuredLoad(
  running: TargetProcess,
  requests: Omit<RequestLoad, 'says'>,
  timing: LoadTiming,
  generator?: GeneratorName,
) {
  return measureCosts(running, () => runLoad(running, requests, timing, generator))
}

/**
 * Runs an open loop.
 * @returns the latencies from the due time, and what explains them: the lateness of the generator, the reached share of
 *   the pace, and the shares of the time in which the host used the processors (steal) or the server waited for one
 */
async function measureLatencies(
  running: TargetProcess,
  requests: Omit<RequestLoad, 'says'>,
  timing: LoadTiming & { readonly rate: number },
): Promise<RowMetrics> {
  const readDisturbances = watchDisturbances(running)
  const { latency, lateness, perSecond } = await runLoad(running, requests, timing)
  const { rate } = timing
  return { ...latency, rate, lateness: lateness!, reached: perSecond / rate, ...readDisturbances() }
}

/**
 * Watches what slows a round at a pace.
 * @returns a function that returns the share of the time in which the host used the processors (steal), and in which
 *   threads of the server waited for one
 */
export function watchDisturbances({ pid, extraPids = [] }: Pick<TargetProcess, 'pid' | 'extraPids'>) {
  const pids = [pid, ...extraPids]
  const [waited, readSteal, began] = [readWaiting(pids), watchSteal(), performance.now()]
  return () => {
    const waiting = (readWaiting(pids) - waited) / ((performance.now() - began) / 1000)
    return { steal: readSteal() ?? 0, waiting }
  }
}

/** Returns the waiting time of processes (s); NaN if the platform does not report it. */
function readWaiting(pids: readonly number[]): number {
  try {
    return getWaitingSeconds(...pids)
  } catch {
    return Number.NaN
  }
}

/** Renames the latencies of a closed loop: `closedP50` to `closedMax`. */
const toClosedLatency = (latency: LoadResult['latency']): RowMetrics =>
  Object.fromEntries(
    Object.entries(latency).map(([name, time]) => [`closed${name[0]!.toUpperCase()}${name.slice(1)}`, time]),
  )

/** Maximum duration of the warm-up of a new generator at its pace (s). */
const GENERATOR_WARM_UP_S = 1

/**
 * Runs a round of requests: a warm-up, then a closed loop that measures the capacity of the server; or with a pace, an open
 * loop that measures latencies.
 */
async function runRequestRound(
  running: TargetProcess,
  given: Omit<RequestLoad, 'says'>,
  options: RoundOptions,
): Promise<RowMetrics> {
  const { duration, warmUp, pace, generator } = options
  const requests = { ...given, connections: options.connections ?? given.connections }
  if (options.throughout)
    return { ...(await runLoad(running, requests, { duration, warmUp, rate: options.rate })).latency }
  await warmUpTarget((seconds) => runLoad(running, requests, { duration: seconds, warmUp: 0 }, generator), warmUp)
  // Without a warm-up at the pace itself, requests are 200 ms late at 40,000 requests/s: the generator is a new process.
  if (pace !== undefined)
    return measureLatencies(running, requests, {
      duration,
      warmUp: Math.min(warmUp, GENERATOR_WARM_UP_S),
      rate: pace,
      ...(given.sleeps && { shares: 'first' }),
    })
  const capacity = await runMeasuredLoad(running, requests, { duration, warmUp: 0 }, generator)
  const memory = getResidentMegabytes(running.pid)
  const metrics = { cpu: capacity.costs, perSecond: capacity.perSecond, memory, generator: capacity.cpu }
  if (given.pipeline !== undefined) return { ...metrics, ...capacity.latency, rate: 'closed loop' }
  return { ...metrics, ...toClosedLatency(capacity.latency) }
}

/** Creates the round of a row of requests. */
export const createRequestRound = ({
  says,
  ...requests
}: RequestLoad): Pick<BenchRow, 'round' | 'says' | 'requests' | 'getCapacity'> => ({
  says,
  requests,
  // With pipelining there is no open loop.
  getCapacity: requests.pipeline === undefined ? ({ perSecond }) => Number(perSecond) : undefined,
  round: (running, options) => runRequestRound(running, requests, options),
})

/** Maximum time until a service sends the right reply, which may need the next refresh of a cache (ms, on a quiet machine). */
const READY_TIMEOUT_MS = 30_000

/** Checks the replies to the first and the last request. @throws Error that contains the wrong reply */
export async function checkReplies(
  { url }: Pick<TargetProcess, 'url'>,
  { requests, expect }: RequestLoad,
): Promise<void> {
  const all = requests as readonly LoadRequest[]
  const check = createCheck(expect)
  for (const { path, ...request } of new Set([all.at(0)!, all.at(-1)!])) {
    for (const end = Date.now() + READY_TIMEOUT_MS * getSlowness(); ; await delay(100)) {
      const reply = await fetch(url + path, request)
      const body = Buffer.from(await reply.arrayBuffer())
      if (check(reply.status, body)) break
      if (reply.status !== expect.status && Date.now() < end) continue
      throw new Error(`the reply to ${path} is ${reply.status}: ${body.toString('utf8', 0, 200)}`)
    }
  }
}

/** As `createRequestRound`. In addition, creates data (`make`) and checks the replies before each round. */
export const createCheckedRound = (
  requests: RequestLoad,
  make: (running: TargetProcess) => Promise<void> = async () => {},
): Pick<BenchRow, 'prepare' | 'round' | 'says' | 'requests' | 'getCapacity'> => ({
  ...createRequestRound(requests),
  async prepare(running) {
    await make(running)
    await checkReplies(running, requests)
  },
})

/** Formats a processor share, with a mark if it was the limit. */
export const formatShare = (share: number): string =>
  `${formatPercent(share)}${share >= SATURATED_SHARE ? ' (the limit)' : ''}`

export const REQUEST_COLUMNS: Columns = {
  cpu: {
    head: 'CPU us/request',
    format: formatTenth,
    of: 'spread',
    ratio: true,
    plot: 'Server processor time per request (us; less is better)',
  },
  perSecond: {
    head: 'requests/s',
    format: formatWhole,
    of: 'spread',
    ratio: true,
    better: 'more',
    plot: 'Requests per second',
  },
  p50: { head: 'p50 us', format: formatWhole, of: 'spread', isDetail: true, better: 'less' },
  p90: { head: 'p90 us', format: formatWhole, of: 'spread', isDetail: true, better: 'less' },
  p99: { head: 'p99 us', format: formatWhole, of: 'spread', isDetail: true, better: 'less' },
  p999: { head: 'p99.9 us', format: formatWhole, of: 'spread', isDetail: true },
  max: { head: 'max us', format: formatWhole, of: 'spread', isDetail: true, better: 'less' },
  rate: { head: 'at requests/s', format: formatWhole, isDetail: true },
  lateness: { head: 'generator late p99 us', format: formatWhole, isDetail: true },
  memory: { head: 'RSS MB', format: formatWhole, plot: 'Resident memory (MB)' },
  generator: { head: 'generator CPU', format: formatShare, of: 'max' },
  'source: perSecond': { head: 'source/s', format: formatWhole },
}
