import type { Running } from '../contenders/contender.ts'
import { generatorNamed } from '../load/generators.ts'
import { SATURATED, type LoadPlan, type LoadResult } from '../load/load.ts'
import { createRaw } from '../load/raw.ts'
import { PINS, processorSeconds, residentMegabytes } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { percent, tenth, whole } from '../report/numbers.ts'
import type { Figures, How, Row } from '../row.ts'

/** What to send, but for where, how fast and for how long. */
export interface Requests extends Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'> {
  /** In words, for "on the serving thread under ...". */
  readonly says: string
}

const raw = createRaw()

/** Of what the server and the generator together can do. */
const OPEN_LOOP_SHARE = 0.7

/** Why a run is no result; nothing if it is one. */
function faultOf({ errors, wrong, requests }: LoadResult): string | undefined {
  if (errors > 0) return `${errors} requests got no reply`
  if (wrong > 0) return `${wrong} replies were wrong`
  return requests === 0 ? 'no request was answered' : undefined
}

type Way = Pick<LoadPlan, 'duration' | 'warmUp' | 'rate' | 'percentiles'>

/** Asks, pinned to the generator's processor. @throws Error unless there were replies and all were right */
export async function ask(
  { url }: Pick<Running, 'url'>,
  { requests, expect, connections, pipeline }: Omit<Requests, 'says'>,
  way: Way,
  generator = raw,
): Promise<LoadResult> {
  const what = { requests, expect, connections, ...(pipeline && { pipeline }) }
  const result = await generator.run({ url, ...what, ...way, pin: PINS.client })
  const fault = faultOf(result)
  if (fault) throw new Error(fault)
  return result
}

/** Asks in a closed loop for some seconds. @returns what that costs the server, too (us a request) */
export async function askAndWatch(running: Running, requests: Omit<Requests, 'says'>, way: Way, generator = raw) {
  const spent = () => [running.pid, ...(running.beside ?? [])].reduce((sum, pid) => sum + processorSeconds(pid), 0)
  const before = spent()
  const result = await ask(running, requests, way, generator)
  return { ...result, costs: ((spent() - before) / result.requests) * 1e6 }
}

const latencyOf = ({ latency }: LoadResult): Figures => ({ ...latency })

/**
 * A round of requests: a warm-up, a closed loop, which tells what a server can do, and, where that is wanted, an open one
 * at 70 % of it, which tells how long a request takes. A pipeline has no pace and no open loop.
 */
async function requestRound(running: Running, given: Requests, how: How): Promise<Figures> {
  const { duration, warmUp, paced } = how
  const requests = { ...given, connections: how.connections ?? given.connections }
  const closed = how.generator === undefined ? raw : await generatorNamed(how.generator)
  await ask(running, requests, { duration: warmUp, warmUp: 0 }, closed)
  const can = await askAndWatch(running, requests, { duration, warmUp: 0 }, closed)
  const memory = residentMegabytes(running.pid)
  const figures = { cpu: can.costs, perSecond: can.perSecond, memory, generator: can.cpu }
  if (given.pipeline !== undefined) return { ...figures, ...latencyOf(can), rate: 'closed loop' }
  if (!paced) return figures
  const rate = Math.max(1, Math.floor(OPEN_LOOP_SHARE * can.perSecond))
  // Warmed up again, because the generator is a new process: cold, it falls 200 ms behind at 40,000 requests/s.
  const open = await ask(running, requests, { duration, warmUp, rate })
  return { ...figures, ...latencyOf(open), rate, lateness: open.lateness!.p99 }
}

/** How a row of requests is measured. */
export const asking = (requests: Requests): Pick<Row, 'round' | 'load'> => ({
  round: (running, how) => requestRound(running, requests, how),
  load: {
    says: requests.says,
    async keep(running, { seconds, warmUp, rate }) {
      await ask(running, requests, { duration: seconds - warmUp, warmUp, ...(rate && { rate }) })
    },
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
  perSecond: { head: 'requests/s', format: whole, of: 'spread', ratio: true, plot: 'Requests a second' },
  p50: { head: 'p50 us', format: whole },
  p90: { head: 'p90 us', format: whole },
  p99: { head: 'p99 us', format: whole },
  p999: { head: 'p99.9 us', format: whole },
  max: { head: 'max us', format: whole },
  rate: { head: 'at requests/s', format: whole },
  lateness: { head: 'generator late p99 us', format: whole },
  memory: { head: 'RSS MB', format: whole, plot: 'Resident memory (MB)' },
  generator: { head: 'generator CPU', format: shareOf, of: 'max' },
  'source: perSecond': { head: 'source/s', format: whole },
}
