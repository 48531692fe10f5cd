import type { RowResult } from '../row.ts'
import { computeMedian, computeSpread } from '../statistics.ts'
import { formatShort } from './format-numbers.ts'
import { findCause, isErratic } from './round-cause.ts'

/** A column of a table: a metric over the rounds of a row. */
export interface Column {
  readonly head: string
  /** Formats the numbers of the column. */
  readonly format?: (value: number) => string
  /** The shown value of all rounds: the median (default), the median with minimum and maximum, or only the maximum. */
  readonly of?: 'spread' | 'max'
  /** Title of the plot of the column, with the unit. Without it there is no plot. */
  readonly plot?: string
  /**
   * `more`: a larger value is better. `less`: a smaller one is better. `neither`: our value and the value of the source are
   * not comparable. Required if the table also has a column with values of the source (`test/report.process.test.ts`).
   */
  readonly better?: 'more' | 'less' | 'neither'
  /** Factor from our unit to the unit of the source: 100 if our value is a share and the other one a percentage. */
  readonly sourceUnits?: number
  /** True for details, such as latencies, that the terminal shows only with `--latency`. */
  readonly isDetail?: boolean
  /** True if the ratios of rows (`BenchTable.steps`) include this column. */
  readonly ratio?: boolean
  /** Metric that must be about equal in both rows of a ratio of this column, because the column depends on it. */
  readonly equal?: string
  /** Derives the value from other metrics, including those of other rows. */
  readonly derive?: (row: RowResult, all: readonly RowResult[]) => number | string | undefined
}

/** Columns by metric. A text is a column with only a heading; `source: NAME` is the published value of the source. */
export type Columns = Readonly<Record<string, Column | string>>

export const SOURCE_PREFIX = 'source: '

/** Returns the values of a metric, one for each round that has it. */
export const getNumbers = ({ rounds }: RowResult, name: string): number[] =>
  rounds.map((metrics) => metrics[name]).filter((value): value is number => typeof value === 'number')

/** Returns the median of a metric; undefined if no round has it. */
export function getMetric(result: RowResult, name: string): number | undefined {
  const numbers = getNumbers(result, name)
  return numbers.length > 0 ? computeMedian(numbers) : undefined
}

/** Returns the columns without details. */
export const omitDetails = (columns: Columns): Columns =>
  Object.fromEntries(Object.entries(columns).filter(([, column]) => !toColumn(column).isDetail))

/** Returns the columns without the values of sources, which the section of sources has. */
export const omitSources = (columns: Columns): Columns =>
  Object.fromEntries(Object.entries(columns).filter(([name]) => !isSource(name)))

export const toColumn = (column: Column | string): Column => (typeof column === 'string' ? { head: column } : column)

export const isSource = (name: string): boolean => name.startsWith(SOURCE_PREFIX)
export const getSource = ({ source }: RowResult, name: string): number | string | undefined =>
  source?.[name.replace(SOURCE_PREFIX, '')]

/** Text of a cost below 0: the difference of two measurements is within their variation. */
export const BELOW_MEASURABLE = 'below what can be measured'

/** Formats a cell. @param all results of all rows, for derived columns */
export function formatCell(name: string, column: Column, result: RowResult, all: readonly RowResult[]): string {
  const { format = formatShort, of, derive } = column
  const toText = (value: number | string | undefined) =>
    typeof value !== 'number' ? (value ?? '') : value < 0 ? BELOW_MEASURABLE : format(value)
  if (isSource(name)) return toText(getSource(result, name))
  if (derive) return toText(derive(result, all))
  const numbers = getNumbers(result, name)
  if (numbers.length === 0) return toText(result.rounds.find((metrics) => name in metrics)?.[name])
  const { median: middle, min, max } = computeSpread(numbers)
  if (of === 'max') return format(max)
  if (of !== 'spread' || numbers.length === 1 || middle < 0) return toText(middle)
  if (isErratic(numbers)) return `${format(min)} to ${format(max)}: ${findCause(result.rounds, name)}`
  return `${format(middle)} (${min < 0 ? 'below 0' : format(min)}-${format(max)})`
}
