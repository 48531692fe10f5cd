import type { RowResult } from '../row.ts'
import { computeMedian, computeSpread } from '../statistics.ts'
import { formatShort } from './format-numbers.ts'

/** A column of a table: what is told of a figure over the rounds of a row. */
export interface Column {
  readonly head: string
  /** How its numbers are written. */
  readonly format?: (value: number) => string
  /** What of the rounds is told: the median by itself; with the fastest and the slowest; or the largest. */
  readonly of?: 'spread' | 'max'
  /** The title of its plot, with its unit. */
  readonly plot?: string
  /**
   * States which figure is better if the source has one too. `neither`: they cannot be compared. Required for a column with
   * a figure of the source (`test/report.test.ts`).
   */
  readonly better?: 'more' | 'less' | 'neither'
  /** Units of the source's figure per unit of ours: 100 if ours is a share and theirs a percentage. */
  readonly sourceUnits?: number
  /** Whether steps tell it. */
  readonly ratio?: boolean
  /** Comes of other figures, those of other rows included. */
  readonly derive?: (row: RowResult, all: readonly RowResult[]) => number | string | undefined
}

/** By the names of figures, a head alone where no more is to be said; `source: NAME` is the source's. */
export type Columns = Readonly<Record<string, Column | string>>

export const SOURCE_PREFIX = 'source: '

/** A figure's numbers, one of each round that has it. */
export const getNumbers = ({ rounds }: RowResult, name: string): number[] =>
  rounds.map((metrics) => metrics[name]).filter((value): value is number => typeof value === 'number')

/** The median of a figure; nothing where no round has it. */
export function getMetric(result: RowResult, name: string): number | undefined {
  const numbers = getNumbers(result, name)
  return numbers.length > 0 ? computeMedian(numbers) : undefined
}

export const toColumn = (column: Column | string): Column => (typeof column === 'string' ? { head: column } : column)

export const isSource = (name: string): boolean => name.startsWith(SOURCE_PREFIX)
export const getSource = ({ source }: RowResult, name: string): number | string | undefined =>
  source?.[name.replace(SOURCE_PREFIX, '')]

/** What a cell says. */
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
