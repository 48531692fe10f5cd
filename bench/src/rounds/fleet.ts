import { runFleet, type FleetResult } from '../load/fleet.ts'
import type { Dialect, FleetPlan } from '../load/fleet/plan.ts'
import { PINS } from '../processes.ts'
import type { Columns } from '../report/columns.ts'
import { hundredth, percent, tenth, whole } from '../report/numbers.ts'
import type { Figures, Row } from '../row.ts'
import { shareOf } from './requests.ts'

/** What is opened on a server and sent to all of it; `saturate`: publishers send for the seconds of a round. */
export interface Fleet extends Pick<FleetPlan, 'dialect' | 'streams' | 'spacing' | 'publishers'> {
  readonly sending: Exclude<FleetPlan['sending'], { seconds: number }> | 'saturate'
}

/** What makes a round no result, and what it is called. Rejected values are a figure, as at the source. */
const FAULTS: Partial<Record<keyof FleetResult, string>> = {
  refused: 'streams were refused',
  cut: 'streams were cut',
  unclosed: 'streams were not ended',
  wrong: 'events or replies were wrong',
  lost: 'events were lost',
  doubled: 'events came twice',
  outOfOrder: 'events were out of order',
}

/** @throws Error when a round is no result */
function figuresOf(result: FleetResult, { isUnordered }: Dialect): Figures {
  const found = Object.entries(FAULTS)
    .filter(([name]) => !(isUnordered && name === 'outOfOrder'))
    .map(([name, what]) => [result[name as keyof FleetResult] ?? 0, what] as const)
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count} ${what}`)
  if (found.length > 0) throw new Error(found.join(', '))
  const { lost, doubled, outOfOrder } = result
  return { ...result, faults: [lost, doubled, outOfOrder].join(', ') }
}

/** How a row of open streams is measured. */
export const streaming = ({ sending, ...rest }: Fleet, says: string): Pick<Row, 'round' | 'says'> => ({
  says,
  async round({ url, pid }, { duration, warmUp, throughout }) {
    const paced = sending === 'saturate' ? undefined : sending
    const values = paced && (throughout ? Math.ceil(((warmUp + duration) * 1000) / paced.interval) : paced.values)
    const sent = paced ? { ...paced, values: values! } : { seconds: duration, warmUp }
    return figuresOf(await runFleet({ ...rest, sending: sent, url, pid, pin: PINS.client }), rest.dialect)
  },
})

const plain = (unit = '') => ({ format: (value: number) => `${value}${unit}` })

/** All columns that a table of streams can have. */
export const STREAMS = {
  cpu: {
    head: 'CPU us/delivery',
    format: hundredth,
    of: 'spread',
    ratio: true,
    plot: 'Server processor time a delivery (us; less is better)',
  },
  deliveries: { head: 'deliveries/s', format: whole, of: 'spread', ratio: true, plot: 'Deliveries a second' },
  values: { head: 'values', format: whole },
  received: { head: 'received a stream', format: tenth },
  deliveryP50: { head: 'delivery p50 us', format: whole },
  deliveryP99: { head: 'p99 us', format: whole },
  query: { head: 'query ms', format: tenth, better: 'less', plot: 'Average query (ms)' },
  faults: 'lost, doubled, disordered',
  rejected: { head: 'rejected', format: whole, of: 'spread', better: 'less' },
  perStream: {
    head: 'KB a stream',
    format: tenth,
    of: 'spread',
    plot: 'Resident memory a stream (KB; less is better)',
  },
  kernel: { head: "kernel's KB a stream, both ends", format: tenth },
  idle: { head: 'idle RSS MB', format: whole },
  memory: { head: 'RSS MB', format: whole },
  grown: { head: 'MB', format: tenth, better: 'less', plot: 'Memory that the streams take (MB)' },
  connects: { head: 'connects/s', format: whole },
  connecting: { head: 'CPU connecting', format: percent, better: 'less', sourceUnits: 100 },
  sending: { head: 'CPU sending', format: percent, better: 'less', sourceUnits: 100 },
  generator: { head: 'generator CPU', of: 'max', format: shareOf },
  lateness: { head: 'generator late p99 us', format: whole },
  'source: grown': { head: 'source: MB', ...plain() },
  'source: connecting': { head: 'source: CPU connecting', ...plain(' %') },
  'source: sending': { head: 'source: CPU sending', ...plain(' %') },
  'source: query': { head: 'source: query ms', ...plain() },
  'source: rejected': { head: 'source: rejected', ...plain() },
} satisfies Columns

/** Some of them, by name in this order, a comma between. @throws Error when there is none of a name */
export const streamColumns = (names: string): Columns =>
  Object.fromEntries(
    names.split(', ').map((name) => {
      const column = (STREAMS as Columns)[name]
      if (column === undefined) throw new Error(`streams have no column ${name}`)
      return [name, column]
    }),
  )
