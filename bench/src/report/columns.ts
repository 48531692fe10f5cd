import type { RowResult } from '../row.ts'
import { computeMedian, computeSpread } from '../statistics.ts'
import { formatShort } from './format-numbers.ts'

/** A column of a table: a metric over the rounds of a row. */
export interface Column {
  readonly head: string
  /** Format of its numbers. */
  readonly format?: (value: number) => string
  /** Aggregation over the rounds: only the median (default), also the fastest and the slowest, or the maximum. */
  readonly of?: 'spread' | 'max'
  /** Title of its plot, with the unit. */
  readonly plot?: string
  /**
   * States which value is better if the source has one too. `neither`: they are not comparable. Required for a column
   * with a value of the source (`test/report.test.ts`).
   */
  readonly better?: 'more' | 'less' | 'neither'
  /** Units of the source's value per unit of ours: 100 if ours is a share and theirs a percentage. */
  readonly sourceUnits?: number
  /** True if steps compare it. */
  readonly ratio?: boolean
  /** Derives the value from other metrics, including those of other rows. */
  readonly derive?: (row: RowResult, all: readonly RowResult[]) => number | string | undefined
}

/** By the names of metrics; a text is a column with only a heading. `source: NAME` is the source's value. */
export type Columns = Readonly<Record<string, Column | string>>

export const SOURCE_PREFIX = 'source: '

/** Values of a metric, one for each round that has it. */
export const getNumbers = ({ rounds }: RowResult, name: string): number[] =>
  rounds.map((metrics) => metrics[name]).filter((value): value is number => typeof value === 'number')

/** Median of a metric; `undefined` if no round has it. */
export function getMetric(result: RowResult, name: string): number | undefined {
  const numbers = getNumbers(result, name)
  return numbers.length > 0 ? computeMedian(numbers) : undefined
}

export const toColumn = (column: Column | string): Column => (typeof column === 'string' ? { head: column } : column)

export const isSource = (name: string): boolean => name.startsWith(SOURCE_PREFIX)
export const getSource = ({ source }: RowResult, name: string): number | string | undefined =>
  source?.[name.replace(SOURCE_PREFIX, '')]

/** Text of a cell. */
export function formatCell(name: string, column: Column, result: RowResult, all: readonly RowResult[]): string {
  const { format = formatShort, of, derive } = column
  const toText = (value: number | string | undefined) => (typeof value === 'number' ? format(value) : (value ?? ''))
  if (isSource(name)) return toText(getSource(result, name))
  if (derive) return toText(derive(result, all))
  const numbers = getNumbers(result, name)
  if (numbers.length === 0) return toText(result.rounds.find((metrics) => name in metrics)?.[name])
  const { median: middle, min, max } = computeSpread(numbers)
  if (of === 'max') return format(max)
  return of === 'spread' && numbers.length > 1 ? `${format(middle)} (${format(min)}-${format(max)})` : format(middle)
}
