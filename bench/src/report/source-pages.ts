import { formatMachine } from '../machine.ts'
import type { PublishedTable } from './results.ts'
import { toMarkdown, type Cells } from './table-cells.ts'
import {
  compareSources,
  formatOutcome,
  hasOutcome,
  type FigureComparison,
  type SourceGroupComparison,
  type SourceRowComparison,
} from './compare-sources.ts'
import type { Source } from '../sources/source-figures.ts'

/** Formats both values of a figure. @param mark marks the figures in which the source is better */
function formatFigure({ theirs, ours, outcome }: FigureComparison, mark: (text: string) => string): string {
  // A dash does not begin a line.
  const text = ours === undefined ? `${theirs} /\u00A0-` : `${theirs} / ${ours}`
  return outcome === 'behind' ? mark(text) : text
}

const listHeads = (rows: readonly SourceRowComparison[]): string[] => [
  ...new Set(rows.flatMap(({ figures }) => figures.map(({ head }) => head))),
]

/** Builds the table of a group: theirs / ours. The load is a column if rows have loads of their own. */
export function buildSourceTable({ rows }: SourceGroupComparison, mark: (text: string) => string): Cells {
  const heads = listHeads(rows)
  const hasLoads = rows.some(({ load }) => load !== '')
  const hasOnlyTheirs = rows.some(({ onlyTheirs }) => onlyTheirs !== '')
  const toCells = (row: SourceRowComparison) => [
    row.name,
    formatOutcome(row),
    ...heads.map((head) => {
      const figure = row.figures.find((one) => one.head === head)
      return figure ? formatFigure(figure, mark) : ''
    }),
    ...(hasOnlyTheirs ? [row.onlyTheirs] : []),
    ...(hasLoads ? [row.load] : []),
  ]
  const head = ['row', 'ours is', ...heads, ...(hasOnlyTheirs ? ['only theirs'] : []), ...(hasLoads ? ['load'] : [])]
  return [head, ...rows.map(toCells)]
}

/** Describes the loads of a group and our machine. */
export const describeGroup = ({ group, machine, load }: SourceGroupComparison): string =>
  machine === undefined
    ? `${load}.`
    : `${load}. Measured by \`pnpm bench --table ${group.table}\`: ${formatMachine(machine)}.`

/** Describes the machine and the limits of a source. */
export const describeSource = ({ machine, limits }: Source): string => `Their machine: ${machine}. Limits: ${limits}`

/** Groups comparisons by source. */
export const groupBySource = (all: readonly SourceGroupComparison[]) => [
  ...Map.groupBy(all, ({ source }) => source).entries(),
]

/** Counts the rows by the result for our service. */
export function countOutcomes(all: readonly SourceGroupComparison[]) {
  const rows = all.flatMap((one) => one.rows)
  const count = (isCounted: (row: SourceRowComparison) => boolean) => rows.filter(isCounted).length
  return {
    rows: rows.length,
    behind: count((row) => hasOutcome(row, 'behind')),
    ahead: count((row) => hasOutcome(row, 'ahead') && !hasOutcome(row, 'behind')),
    notMeasured: count(({ notMeasured }) => notMeasured !== undefined),
  }
}

export const formatCounts = ({ rows, behind, ahead, notMeasured }: ReturnType<typeof countOutcomes>): string =>
  `${rows} rows: ours is better or equal in all judged values of ${ahead}, and worse in at least one value of ${behind}. ${notMeasured} rows are not measured. The others are equal within the rounds, or not judged.`

/** Builds the generated part of docs/sources.md. */
export function buildSourcesPage(published: readonly PublishedTable[]): string {
  const all = compareSources(published)
  return [
    formatCounts(countOutcomes(all)),
    ...groupBySource(all).flatMap(([source, groups]) => [
      `## ${source.service}: ${source.title}`,
      describeSource(source),
      ...groups.flatMap((one) => [
        `### ${one.group.title}`,
        toMarkdown(buildSourceTable(one, (text) => `**${text}**`)),
        describeGroup(one),
      ]),
    ]),
  ].join('\n\n')
}
