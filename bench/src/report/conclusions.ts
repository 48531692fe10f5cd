import { computeSteps, type Ratio } from '../ratios.ts'
import { MIN_CONFIDENCE } from '../statistics.ts'
import type { RowResult } from '../row.ts'
import type { BenchTable } from '../table.ts'
import { getMetric, getSource, isSource, SOURCE_PREFIX, toColumn, type Column } from './columns.ts'
import { formatFactor, formatShort } from './format-numbers.ts'
import { findReason } from './reasons.ts'
import { getTableName, type PublishedTable } from './results.ts'
import type { Cells } from './table-cells.ts'

/** Matches the names of rows of other programs (peers), which send the same replies as our services. */
const PEER_PATTERN =
  /^(?:(?:GET|PUT), )?(?:bare|nginx|Caddy|etcd|NATS|Redis|Go|SQLite|better-sse|@fastify|nchan|Mercure's|Centrifugo|DuckDB)/

/** Formats the result of a comparison of costs, which are valid even if the generator was the limit. */
function toVerdict({ verdict, median, confidence }: Ratio): string {
  if (confidence < MIN_CONFIDENCE) return 'too few starts'
  if (verdict !== 'difference') return verdict
  return median < 1 ? 'better' : 'worse'
}

/** Formats a ratio, shorter than `formatRatio`. */
function formatShortRatio({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'generator limit'
  const format = (value: number) => formatFactor(value, 2)
  return format(median) + (confidence < MIN_CONFIDENCE ? '' : ` (${format(low)} to ${format(high)})`)
}

/** A comparison of a row of ours with a peer. */
interface PeerComparison {
  /** Name of the ratio, as `compare` takes it. */
  readonly title: string
  readonly verdict: string
  /** Ratios of the processor time and of the rate. */
  readonly cost: string
  readonly rate: string
  readonly processor: string
}

const listPeerComparisons = (published: readonly PublishedTable[]): PeerComparison[] =>
  published.flatMap((one) =>
    computeSteps(one.results, one.table)
      .filter(({ against }) => PEER_PATTERN.test(against))
      .map(({ name, ratios: [cost, rate] }) => ({
        title: `${getTableName(one)}: ${name}`,
        verdict: toVerdict(cost!),
        cost: formatShortRatio(cost!),
        rate: rate ? formatShortRatio(rate) : '',
        processor: one.machine.processor,
      })),
  )

/** Returns a function that adds a cell with the processor if the results are of several processor models. */
function createProcessorCell(published: readonly PublishedTable[]): (cell: string) => string[] {
  const processors = new Set(published.map(({ machine }) => machine.processor))
  return (cell) => (processors.size > 1 ? [cell] : [])
}

/** Returns the command that measures a ratio again. */
const toCompareCommand = (title: string) => `pnpm bench compare "${title}"`

/** Returns a table of all comparisons with peers in which no peer is ahead, one line for each. */
export function listConclusions(published: readonly PublishedTable[]): Cells {
  const ifSeveral = createProcessorCell(published)
  const rows = listPeerComparisons(published)
    .filter(({ verdict }) => verdict !== 'worse')
    .map(({ title, verdict, cost, rate, processor }) => [
      toCompareCommand(title),
      verdict,
      cost,
      rate,
      ...ifSeveral(processor),
    ])
  return [['ours / peer', 'our result', 'CPU per operation', 'operations/s', ...ifSeveral('processor')], ...rows]
}

/** Returns a table of the rows in which a peer or the source is ahead, with the cause and the current work on it. */
export function listRowsBehind(published: readonly PublishedTable[]): Cells {
  const ifSeveral = createProcessorCell(published)
  const peers = listPeerComparisons(published)
    .filter(({ verdict }) => verdict === 'worse')
    .map(({ title, cost, rate, processor }) => {
      const { cause, work } = findReason(title)
      return [toCompareCommand(title), `CPU ${cost}; operations/s ${rate}`, cause, work, ...ifSeveral(processor)]
    })
  const sources = published.flatMap((one) =>
    one.results.flatMap((result) => {
      const better = listSourcePairs(result, one.table).filter(isSourceBetter)
      if (better.length === 0) return []
      const { cause, work } = findReason(`${getTableName(one)}: ${result.name} / the source`)
      const values = better.map(({ text }) => text).join('; ')
      const command = `pnpm bench --table ${getTableName(one)}: ${result.name}`
      return [[command, values, cause, work, ...ifSeveral(one.machine.processor)]]
    }),
  )
  const head = ['row', "ours / peer, or ours (the source's)", 'cause', 'current work', ...ifSeveral('processor')]
  return [head, ...peers, ...sources]
}

/** Our value and the value of the source, if a table has a column for each and both are numbers. */
export interface SourcePair {
  readonly column: Column
  readonly ours: number
  readonly theirs: number
  /** Both values as text. */
  readonly text: string
}

export function listSourcePairs(result: RowResult, { columns }: Pick<BenchTable, 'columns'>): SourcePair[] {
  return Object.entries(columns).flatMap(([name, sourceColumn]) => {
    const own = columns[name.replace(SOURCE_PREFIX, '')]
    const [measured, reference] = [getMetric(result, name.replace(SOURCE_PREFIX, '')), getSource(result, name)]
    if (!isSource(name) || own === undefined || measured === undefined || typeof reference !== 'number') return []
    const [column, { format = formatShort }] = [toColumn(own), toColumn(sourceColumn)]
    const text = `${column.head} ${(column.format ?? formatShort)(measured)} (${format(reference)})`
    return [{ column, ours: measured, theirs: reference, text }]
  })
}

const isSourceBetter = ({ column: { better, sourceUnits = 1 }, ours, theirs }: SourcePair): boolean =>
  better === 'more' ? ours * sourceUnits < theirs : better === 'less' && ours * sourceUnits > theirs
