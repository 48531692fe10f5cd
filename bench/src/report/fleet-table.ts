import type { FleetRowResult, FleetSource } from '../fleet-row.ts'
import { SATURATED } from '../load/load.ts'
import type { FleetResult } from '../load/sse-fleet.ts'
import { median, spread } from '../statistics.ts'
import { tenth, whole } from './numbers.ts'
import { bars, type Figure } from './svg.ts'

interface Column {
  readonly head: string
  cell(result: FleetRowResult): string
  /** What is plotted of it, where it is: the title, and a number of each round. */
  readonly plot?: { readonly title: string; readonly valueOf: NumberOf; readonly source?: keyof FleetSource }
}

type NumberOf = (round: FleetResult) => number

/** The median of the rounds. */
function figure(head: string, valueOf: NumberOf, format = whole): Column {
  return { head, cell: ({ rounds }) => format(median(rounds.map(valueOf))) }
}

/** The median of the rounds, and how far they spread where there are several. */
function spreading(head: string, valueOf: NumberOf, format = whole): Column {
  const cell = ({ rounds }: FleetRowResult) => {
    const { median: middle, min, max } = spread(rounds.map(valueOf))
    return rounds.length === 1 ? format(middle) : `${format(middle)} (${format(min)}-${format(max)})`
  }
  return { head, cell }
}

function plotted(column: Column, title: string, valueOf: NumberOf, source?: keyof FleetSource): Column {
  return { ...column, plot: { title, valueOf, source } }
}

function ofSource(head: string, name: keyof FleetSource, unit = ''): Column {
  return {
    head: `source: ${head}`,
    cell: ({ source }) => (source?.[name] === undefined ? '' : `${source[name]}${unit}`),
  }
}

const perDelivery: NumberOf = (round) => round.processorPerDelivery
const deliveries: NumberOf = (round) => round.deliveriesPerSecond
const perStream: NumberOf = (round) => round.kilobytesPerStream
const grown: NumberOf = ({ memory }) => memory.sent - memory.idle
const query: NumberOf = (round) => round.queries.mean / 1000

const percent = (share: number) => (Number.isFinite(share) ? `${Math.round(share * 100)} %` : '-')
const hundredth = (value: number) => (Number.isFinite(value) ? value.toFixed(2) : '-')

/** All columns that a table of fleets can have. */
const COLUMNS = {
  processorPerDelivery: plotted(
    spreading('CPU us/delivery', perDelivery, hundredth),
    'Server processor time a delivery (us; less is better)',
    perDelivery,
  ),
  deliveries: plotted(spreading('deliveries/s', deliveries), 'Deliveries a second', deliveries),
  values: figure('values', (round) => round.values),
  received: figure('received a stream', (round) => round.received, tenth),
  deliveryP50: figure('delivery p50 us', (round) => round.delivery.p50),
  deliveryP99: figure('p99 us', (round) => round.delivery.p99),
  query: plotted(figure('query ms', query, tenth), 'Average query (ms)', query, 'query'),
  faults: {
    head: 'lost, doubled, disordered',
    cell: ({ rounds }) =>
      (['lost', 'doubled', 'outOfOrder'] as const)
        .map((name) => rounds.reduce((sum, round) => sum + round[name], 0))
        .join(', '),
  },
  rejected: spreading('rejected', (round) => round.rejected),
  perStream: plotted(
    spreading('KB a stream', perStream, tenth),
    'Resident memory a stream (KB; less is better)',
    perStream,
  ),
  idle: figure('idle RSS MB', (round) => round.memory.idle),
  memory: figure('RSS MB', (round) => round.memory.sent),
  grown: plotted(figure('MB', grown, tenth), 'Memory that the streams take (MB)', grown, 'memory'),
  connects: figure('connects/s', (round) => round.connectsPerSecond),
  connecting: figure('CPU connecting', ({ processor }) => processor.connecting, percent),
  sending: figure('CPU sending', ({ processor }) => processor.sending, percent),
  fleet: {
    head: 'generator CPU',
    cell: ({ rounds }) => {
      const cpu = Math.max(...rounds.map((round) => round.cpu))
      return `${percent(cpu)}${cpu >= SATURATED ? ' (the limit)' : ''}`
    },
  },
  lateness: figure('generator late p99 us', (round) => round.lateness?.p99 ?? NaN),
  sourceMemory: ofSource('MB', 'memory'),
  sourceConnecting: ofSource('CPU connecting', 'connecting', ' %'),
  sourceSending: ofSource('CPU sending', 'sending', ' %'),
  sourceQuery: ofSource('query ms', 'query'),
  sourceRejected: ofSource('rejected', 'rejected'),
} satisfies Record<string, Column>

export type FleetColumn = keyof typeof COLUMNS

const columnsOf = (names: readonly FleetColumn[]): Column[] => names.map((name) => COLUMNS[name])

/** The plots of a table with these columns. */
export function fleetFiguresOf(results: readonly FleetRowResult[], names: readonly FleetColumn[]): Figure[] {
  const done = results.filter(({ failure }) => failure === undefined)
  return columnsOf(names).flatMap(({ plot }) => {
    if (!plot) return []
    const rows = done.map(({ name, rounds, source }) => {
      const { median: value, min: low, max: high } = spread(rounds.map(plot.valueOf))
      return { label: name, value, low, high, reference: plot.source && source?.[plot.source] }
    })
    const marked = rows.some(({ reference }) => reference !== undefined)
    const title = marked ? `${plot.title}; mark: the source, on its own machine` : plot.title
    return [{ title, svg: bars(rows, (value) => (value < 100 ? tenth(value) : whole(value))) }]
  })
}

/** The table of a scenario with these columns, the same in the terminal, the README and the report. */
export function fleetTableOf(results: readonly FleetRowResult[], names: readonly FleetColumn[]): string[][] {
  const chosen = columnsOf(names)
  const cellsOf = (result: FleetRowResult): string[] =>
    // Why is said once, below the table.
    result.failure === undefined
      ? [result.name, ...chosen.map(({ cell }) => cell(result))]
      : [result.name, 'FAILED', ...names.slice(1).map(() => '')]
  return [['', ...chosen.map(({ head }) => head)], ...results.map(cellsOf)]
}
