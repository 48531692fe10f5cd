import { computeSteps, type Ratio } from '../ratios.ts'
import { MIN_CONFIDENCE } from '../statistics.ts'
import type { Source } from '../sources/source-figures.ts'
import { compareSources } from './compare-sources.ts'
import { formatBounds, formatFactor } from './format-numbers.ts'
import { findReason } from './reasons.ts'
import { getTableName, type PublishedTable } from './results.ts'
import { toLabel, type Cells } from './table-cells.ts'

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
function formatShortRatio({ limited, different, median, low, high, confidence }: Ratio): string {
  if (different !== undefined) return different
  if (limited) return 'generator limit'
  return formatFactor(median, 2) + (confidence < MIN_CONFIDENCE ? '' : formatBounds(low, high, 2))
}

/** A comparison of a row of ours with a peer. */
export interface PeerComparison {
  /** Name of the ratio. */
  readonly title: string
  /** The same with the number of connections, as tables print it and `compare` takes it. */
  readonly label: string
  readonly verdict: string
  /** Ratio of the processor time. */
  readonly ratio: Ratio
  /** Ratios of the processor time and of the rate. */
  readonly cost: string
  readonly rate: string
  readonly processor: string
}

export const listPeerComparisons = (published: readonly PublishedTable[]): PeerComparison[] =>
  published.flatMap((one) =>
    computeSteps(one.results, one.table)
      .filter(({ against }) => PEER_PATTERN.test(against))
      .map(({ name, connections, ratios: [cost, rate] }) => ({
        title: `${getTableName(one)}: ${name}`,
        label: `${getTableName(one)}: ${toLabel({ name, connections })}`,
        verdict: toVerdict(cost!),
        ratio: cost!,
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
const toCompareCommand = (label: string) => `\`pnpm bench compare "${label}"\``

/** Returns a table of all comparisons with peers in which no peer is ahead, one line for each. */
export function listConclusions(published: readonly PublishedTable[]): Cells {
  const ifSeveral = createProcessorCell(published)
  const rows = listPeerComparisons(published)
    .filter(({ verdict }) => verdict !== 'worse')
    .map(({ label, verdict, cost, rate, processor }) => [
      toCompareCommand(label),
      verdict,
      cost,
      rate,
      ...ifSeveral(processor),
    ])
  return [['ours / peer', 'our result', 'CPU per operation', 'operations/s', ...ifSeveral('processor')], ...rows]
}

/** A row in which another program or the source is better. */
interface RowBehind {
  /** Title by which its reason is found. */
  readonly title: string
  /** The command that measures the row again, in Markdown. */
  readonly command: string
  readonly values: string
  readonly processor: string
}

const listPeersAhead = (published: readonly PublishedTable[]): RowBehind[] =>
  listPeerComparisons(published)
    .filter(({ verdict }) => verdict === 'worse')
    .map(({ title, label, cost, rate, processor }) => {
      const values = `CPU ${cost}${rate === '' ? '' : `; operations/s ${rate}`}`
      return { title, command: toCompareCommand(label), values, processor }
    })

/** Maximum number of values of a row in the conclusions; the page of sources has all. */
const MAX_VALUES = 2

const listSourcesAhead = (published: readonly PublishedTable[], compared?: readonly Source[]): RowBehind[] =>
  compareSources(published, compared).flatMap(({ group, machine, rows }) =>
    rows.flatMap(({ name, ownTitle, figures }) => {
      const behind = figures.filter(({ outcome }) => outcome === 'behind')
      if (behind.length === 0) return []
      const shown = behind.slice(0, MAX_VALUES).map(({ head, ours, theirs }) => `${head} ${ours} (${theirs})`)
      const more = behind.length > MAX_VALUES ? [`${behind.length - MAX_VALUES} more`] : []
      const values = [...shown, ...more].join('; ')
      const command = `\`pnpm bench --table ${group.table}\`: ${name}`
      return [{ title: `${ownTitle} / the source`, command, values, processor: machine!.processor }]
    }),
  )

/**
 * Returns a table of the rows in which a peer or the source is ahead, with the cause and the current work on it. Rows with
 * the same cause share a line of the table, and have a line each in its cells.
 */
export function listRowsBehind(published: readonly PublishedTable[], compared?: readonly Source[]): Cells {
  const ifSeveral = createProcessorCell(published)
  const all = [...listPeersAhead(published), ...listSourcesAhead(published, compared)]
  const rows = Array.from(
    Map.groupBy(all, ({ title }) => findReason(title)),
    ([{ cause, work }, some]) => [
      some.map(({ command }) => command).join('\n'),
      some.map(({ values }) => values).join('\n'),
      cause,
      work,
      ...ifSeveral(some.map(({ processor }) => processor).join('\n')),
    ],
  )
  const head = ['row', "ours / peer, or ours (the source's)", 'cause', 'current work', ...ifSeveral('processor')]
  return [head, ...rows]
}
