import type { RowResult } from '../row.ts'
import { median, spread } from '../statistics.ts'
import { short } from './numbers.ts'

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

export const SOURCE = 'source: '

/** A figure's numbers, one of each round that has it. */
export const numbersOf = ({ rounds }: RowResult, name: string): number[] =>
  rounds.map((figures) => figures[name]).filter((value): value is number => typeof value === 'number')

/** The median of a figure; nothing where no round has it. */
export function figureOf(result: RowResult, name: string): number | undefined {
  const numbers = numbersOf(result, name)
  return numbers.length > 0 ? median(numbers) : undefined
}

export const columnOf = (column: Column | string): Column => (typeof column === 'string' ? { head: column } : column)

export const isSource = (name: string): boolean => name.startsWith(SOURCE)
export const sourceOf = ({ source }: RowResult, name: string): number | string | undefined =>
  source?.[name.replace(SOURCE, '')]

/** What a cell says. */
export function cellOf(name: string, column: Column, result: RowResult, all: readonly RowResult[]): string {
  const { format = short, of, derive } = column
  const written = (value: number | string | undefined) => (typeof value === 'number' ? format(value) : (value ?? ''))
  if (isSource(name)) return written(sourceOf(result, name))
  if (derive) return written(derive(result, all))
  const numbers = numbersOf(result, name)
  if (numbers.length === 0) return written(result.rounds.find((figures) => name in figures)?.[name])
  const { median: middle, min, max } = spread(numbers)
  if (of === 'max') return format(max)
  return of === 'spread' && numbers.length > 1 ? `${format(middle)} (${format(min)}-${format(max)})` : format(middle)
}
