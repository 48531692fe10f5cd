import { runFleet, type FleetResult } from '../load/fleet.ts'
import type { Dialect, FleetPlan } from '../load/fleet/fleet-plan.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { formatHundredth, formatPercent, formatTenth, formatWhole } from '../report/format-numbers.ts'
import type { RowMetrics, BenchRow } from '../row.ts'
import type { TargetProcess } from '../targets/target.ts'
import { formatShare, watchDisturbances } from './request-round.ts'

/**
 * Streams and values of a round. `saturate`: publishers send as fast as possible for its duration. `pace`: they do so only
 * to measure the capacity, and then send at the pace of the run.
 */
export interface FleetOptions extends Pick<FleetPlan, 'dialect' | 'streams' | 'spacing' | 'publishers'> {
  readonly sending: Exclude<FleetPlan['sending'], { seconds: number }> | 'saturate' | 'pace'
}

/** Faults that invalidate a round. Rejected values are a metric, as in the measurements of the source, unless all are. */
const FAULT_TEXTS: Partial<Record<keyof FleetResult, string>> = {
  refused: 'streams were refused',
  cut: 'streams were cut',
  unclosed: 'streams were not ended',
  wrong: 'events or replies were wrong',
  lost: 'events were lost',
  doubled: 'events came twice',
  outOfOrder: 'events were out of order',
}

/** Returns the metrics of a round. @throws Error if the round has faults */
function toMetrics(result: FleetResult, { isUnordered }: Dialect): RowMetrics {
  const found = Object.entries(FAULT_TEXTS)
    .filter(([name]) => !(isUnordered && name === 'outOfOrder'))
    .map(([name, what]) => [result[name as keyof FleetResult] ?? 0, what] as const)
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
  // Otherwise `lost` would be 0 although nothing was checked.
  if (result.accepted === 0) found.push('no value was accepted')
  if (found.length > 0) throw new Error(found.join(', '))
  const { lost, doubled, outOfOrder } = result
  return { ...result, faults: [lost, doubled, outOfOrder].join(', ') }
}

/** Minimum duration of the values at a pace (s), because the first of them run code that is not compiled yet. */
const MIN_PACED_S = 6

/** Measures deliveries at a pace (values per second). */
async function measurePaced(
  running: Pick<TargetProcess, 'url' | 'pid' | 'extraPids'>,
  { streams, ...rest }: Omit<FleetOptions, 'sending'>,
  pace: number,
  duration: number,
): Promise<RowMetrics> {
  const { url, pid } = running
  const readDisturbances = watchDisturbances(running)
  const sending = { values: Math.ceil(Math.max(duration, MIN_PACED_S) * pace), interval: 1000 / pace }
  const metrics = toMetrics(await runFleet({ ...rest, streams, sending, url, pid, pin: PINS.client }), rest.dialect)
  return { ...metrics, rate: pace, reached: Number(metrics.deliveries) / (pace * streams), ...readDisturbances() }
}

/** Creates the round of a row with open streams. @param says the description in `BenchRow.says` */
export const createStreamRound = (
  { sending, ...rest }: FleetOptions,
  says: string,
): Pick<BenchRow, 'round' | 'says' | 'getCapacity'> => ({
  says,
  ...(sending === 'pace' && { getCapacity: ({ capacity }) => Number(capacity) / rest.streams }),
  async round(running, { duration, warmUp, throughout, pace }) {
    const { url, pid } = running
    if (pace !== undefined) return measurePaced(running, rest, pace, duration)
    const paced = typeof sending === 'string' ? undefined : sending
    const values = paced && (throughout ? Math.ceil(((warmUp + duration) * 1000) / paced.interval) : paced.values)
    const sent = paced ? { ...paced, values: values! } : { seconds: duration, warmUp }
    const metrics = toMetrics(await runFleet({ ...rest, sending: sent, url, pid, pin: PINS.client }), rest.dialect)
    return sending === 'pace' ? { capacity: metrics.deliveries! } : metrics
  },
})

const createPlainColumn = (unit = '') => ({ format: (value: number) => `${value}${unit}` })

/** All columns of tables of streams. */
export const STREAM_COLUMNS = {
  cpu: {
    head: 'CPU us/delivery',
    format: formatHundredth,
    of: 'spread',
    ratio: true,
    equal: 'deliveries',
    plot: 'Server processor time per delivery (us; less is better)',
  },
  deliveries: { head: 'deliveries/s', format: formatWhole, of: 'spread', ratio: true, plot: 'Deliveries per second' },
  capacity: { head: 'capacity, deliveries/s', format: formatWhole, of: 'spread' },
  rate: { head: 'at values/s', format: formatWhole },
  values: { head: 'values', format: formatWhole },
  received: { head: 'received per stream', format: formatTenth },
  deliveryP50: { head: 'delivery p50 us', format: formatWhole, of: 'spread' },
  deliveryP99: { head: 'p99 us', format: formatWhole, of: 'spread' },
  query: { head: 'query ms', format: formatTenth, better: 'less', plot: 'Average query (ms)' },
  faults: 'lost, duplicate, out of order',
  rejected: { head: 'rejected', format: formatWhole, of: 'spread', better: 'less' },
  perStream: {
    head: 'KB per stream',
    format: formatTenth,
    of: 'spread',
    plot: 'Resident memory per stream (KB; less is better)',
  },
  kernel: { head: "kernel's KB per stream, both ends", format: formatTenth },
  idle: { head: 'idle RSS MB', format: formatWhole },
  memory: { head: 'RSS MB', format: formatWhole },
  grown: { head: 'MB', format: formatTenth, better: 'less', plot: 'Memory of the streams (MB)' },
  connects: { head: 'connects/s', format: formatWhole },
  connecting: { head: 'CPU connecting', format: formatPercent, better: 'less', sourceUnits: 100 },
  sending: { head: 'CPU sending', format: formatPercent, better: 'less', sourceUnits: 100 },
  generator: { head: 'generator CPU', of: 'max', format: formatShare },
  lateness: { head: 'generator late p99 us', format: formatWhole },
  'source: grown': { head: 'source: MB', ...createPlainColumn() },
  'source: connecting': { head: 'source: CPU connecting', ...createPlainColumn(' %') },
  'source: sending': { head: 'source: CPU sending', ...createPlainColumn(' %') },
  'source: query': { head: 'source: query ms', ...createPlainColumn() },
  'source: rejected': { head: 'source: rejected', ...createPlainColumn() },
} satisfies Columns

/** Selects columns by name, in this order, separated by commas. @throws Error if a name is unknown */
export const selectStreamColumns = (names: string): Columns =>
  Object.fromEntries(
    names.split(', ').map((name) => {
      const column = (STREAM_COLUMNS as Columns)[name]
      if (column === undefined) throw new Error(`streams have no column ${name}`)
      return [name, column]
    }),
  )
