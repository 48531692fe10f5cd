import { formatRatio, computeSteps } from '../ratios.ts'
import type { RowResult } from '../row.ts'
import type { BenchTable } from '../tables/table.ts'
import { formatCell, toColumn } from './columns.ts'

/** A head and rows, the same in the terminal, the README and the report. */
export type Cells = readonly (readonly string[])[]

type ReportTable = Pick<BenchTable, 'columns' | 'steps'>

/** The figures of each row. Columns that no row has a figure of are left out. */
export function buildTable(results: readonly RowResult[], { columns }: ReportTable): Cells {
  const done = results.filter(({ failure }) => failure === undefined)
  const shown = Object.entries(columns).flatMap(([name, plain]) => {
    const column = toColumn(plain)
    const cells = new Map(done.map((result) => [result, formatCell(name, column, result, done)]))
    return done.length === 0 || [...cells.values()].some((cell) => cell !== '') ? [{ head: column.head, cells }] : []
  })
  const cellsOf = (result: RowResult) =>
    // Why is said once, below the table.
    shown.map(({ cells }, i) => (result.failure === undefined ? cells.get(result)! : i === 0 ? 'FAILED' : ''))
  return [['', ...shown.map(({ head }) => head)], ...results.map((result) => [result.name, ...cellsOf(result)])]
}

/** What each step gained or lost; empty where there is none, or one round alone. */
export function buildStepsTable(results: readonly RowResult[], table: ReportTable): Cells {
  const steps = computeSteps(results, table).filter(({ ratios }) => results[0]!.rounds.length > 1 && ratios.length > 0)
  if (steps.length === 0) return []
  const heads = steps[0]!.ratios.map(({ heading }) => heading)
  return [['', ...heads], ...steps.map(({ name, ratios }) => [name, ...ratios.map(formatRatio)])]
}

/** All that is told of results in cells. */
export const buildTables = (results: readonly RowResult[], table: ReportTable): Cells[] =>
  [buildTable(results, table), buildStepsTable(results, table)].filter((cells) => cells.length > 0)

export function toMarkdown([head, ...rows]: Cells): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head!), line(head!.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
