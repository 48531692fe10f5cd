import { formatRatio, computeSteps } from '../ratios.ts'
import type { RowResult } from '../row.ts'
import type { BenchTable } from '../table.ts'
import { formatCell, toColumn } from './columns.ts'

/** Texts of a table: the heading, then the rows. They are equal in the terminal, the README and the report. */
export type Cells = readonly (readonly string[])[]

type ReportTable = Pick<BenchTable, 'columns' | 'steps'>

/** Returns the name of a row or a ratio with the number of its connections. */
export const toLabel = ({ name, connections }: Pick<RowResult, 'name' | 'connections'>): string =>
  connections === undefined || name.includes('connection')
    ? name
    : `${name}, ${connections} connection${connections === 1 ? '' : 's'}`

/** Builds the table with the metrics of each row. Omits columns without any value. */
export function buildTable(results: readonly RowResult[], { columns }: ReportTable): Cells {
  const done = results.filter(({ failure }) => failure === undefined)
  const columnCells = Object.entries(columns).flatMap(([name, plain]) => {
    const column = toColumn(plain)
    const cells = new Map(done.map((result) => [result, formatCell(name, column, result, done)]))
    return done.length === 0 || [...cells.values()].some((cell) => cell !== '') ? [{ head: column.head, cells }] : []
  })
  const cellsOf = (result: RowResult) =>
    // The reason of a failure is below the table.
    columnCells.map(({ cells }, i) => (result.failure === undefined ? cells.get(result)! : i === 0 ? 'FAILED' : ''))
  return [
    ['', ...columnCells.map(({ head }) => head)],
    ...results.map((result) => [toLabel(result), ...cellsOf(result)]),
  ]
}

/** Builds the table with the ratios of each step. It is empty if there are no steps. */
export function buildStepsTable(results: readonly RowResult[], table: ReportTable): Cells {
  const steps = computeSteps(results, table).filter(({ ratios }) => ratios.length > 0)
  if (steps.length === 0) return []
  const heads = steps[0]!.ratios.map(({ heading }) => heading)
  return [['', ...heads], ...steps.map((step) => [toLabel(step), ...step.ratios.map(formatRatio)])]
}

/** Builds all tables of results. */
export const buildTables = (results: readonly RowResult[], table: ReportTable): Cells[] =>
  [buildTable(results, table), buildStepsTable(results, table)].filter((cells) => cells.length > 0)

/** Maximum width of a table in a terminal (characters). */
export const TERMINAL_WIDTH = 120
/** Maximum width of a table in the page of the report, which breaks cells at spaces and hyphens (characters). */
export const PAGE_WIDTH = 150
const GAP = 2

const getLength = (text: string) => text.length

/** Returns the length of the longest part that a browser does not break. */
export const getLongestWord = (text: string): number => Math.max(...text.split(/\s|(?<=-)/).map(getLength))

/**
 * Splits a table into tables that fit into a width. Each has the names of the rows, and the next of the other columns.
 * @param width maximum width of a table (characters)
 * @param measure returns the minimum width of a cell (characters)
 */
export function splitTable(cells: Cells, width = TERMINAL_WIDTH, measure = getLength): Cells[] {
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => measure(row[column]!))))
  const groups: number[][] = []
  let left = 0
  for (const column of widths.keys().drop(1)) {
    const needed = GAP + widths[column]!
    if (needed > left) {
      groups.push([0])
      left = width - widths[0]!
    }
    groups.at(-1)!.push(column)
    left -= needed
  }
  return groups.map((columns) => cells.map((row) => columns.map((column) => row[column]!)))
}

export function toMarkdown([head, ...rows]: Cells): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ').replaceAll('\n', '<br>')} |`
  return [line(head!), line(head!.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
