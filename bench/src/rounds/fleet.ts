import { runFleet, type FleetPlan, type FleetResult } from '../load/sse-fleet.ts'
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
const FAULTS = {
  refused: 'streams were refused',
  cut: 'streams were cut',
  unclosed: 'streams were not ended',
  wrong: 'events or replies were wrong',
  lost: 'events were lost',
  doubled: 'events came twice',
  outOfOrder: 'events were out of order',
} as const

/** @throws Error when a round is no result */
function figuresOf(result: FleetResult): Figures {
  const found = Object.entries(FAULTS).filter(([name]) => result[name as keyof typeof FAULTS] > 0)
  const faults = found.map(([name, what]) => `${result[name as keyof typeof FAULTS]} ${what}`)
  if (faults.length > 0) throw new Error(faults.join(', '))
  const { lost, doubled, outOfOrder } = result
  return { ...result, faults: [lost, doubled, outOfOrder].join(', ') }
}

/** How a row of open streams is measured. */
export const streaming = (fleet: Fleet, says: string): Pick<Row, 'round' | 'load'> => {
  const { sending, ...rest } = fleet
  return {
    async round({ url, pid }, { duration, warmUp }) {
      const sent = sending === 'saturate' ? { seconds: duration, warmUp } : sending
      return figuresOf(await runFleet({ ...rest, sending: sent, url, pid, pin: PINS.client }))
    },
    load: {
      says,
      async keep({ url, pid }, { seconds, warmUp }) {
        const sent = { seconds: seconds - warmUp, warmUp }
        figuresOf(await runFleet({ ...rest, sending: sent, url, pid, pin: PINS.client }))
      },
    },
  }
}

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
  query: { head: 'query ms', format: tenth, plot: 'Average query (ms)' },
  faults: 'lost, doubled, disordered',
  rejected: { head: 'rejected', format: whole, of: 'spread' },
  perStream: {
    head: 'KB a stream',
    format: tenth,
    of: 'spread',
    plot: 'Resident memory a stream (KB; less is better)',
  },
  kernel: { head: "kernel's KB a stream, both ends", format: tenth },
  idle: { head: 'idle RSS MB', format: whole },
  memory: { head: 'RSS MB', format: whole },
  grown: { head: 'MB', format: tenth, plot: 'Memory that the streams take (MB)' },
  connects: { head: 'connects/s', format: whole },
  connecting: { head: 'CPU connecting', format: percent },
  sending: { head: 'CPU sending', format: percent },
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
