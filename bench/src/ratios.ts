import { SATURATED } from './load/load.ts'
import { columnOf, numbersOf, type Columns } from './report/columns.ts'
import { factor } from './report/numbers.ts'
import type { RowResult } from './row.ts'
import type { Table } from './tables/table.ts'
import { isDifference, medianInterval, SURE, type Interval } from './statistics.ts'

/** One figure of A as a multiple of B's. */
export interface Ratio extends Interval {
  /** The head of its column. */
  readonly figure: string
  readonly differs: boolean
  /** Whether a side was limited by its generator: then this is no ratio of what the servers can do. */
  readonly limited: boolean
}

/** What a generator limits where it takes all of a processor: figures a second. What a request costs stays true. */
const RATES = new Set(['perSecond', 'deliveries', 'prices'])
const isLimited = (result: RowResult) => numbersOf(result, 'generator').some((share) => share >= SATURATED)

/** One figure of A as a multiple of B's, from rounds that were measured next to each other, each on a start of its own. */
export function ratioOf(a: RowResult, b: RowResult, name: string, figure = name): Ratio {
  const [of, against] = [numbersOf(a, name), numbersOf(b, name)]
  const ratios = of.slice(0, against.length).map((value, i) => value / against[i]!)
  const interval = medianInterval(ratios)
  const limited = RATES.has(name) && (isLimited(a) || isLimited(b))
  // Rounds on one start do not know how starts differ.
  const confidence = Math.min(a.starts, b.starts) < ratios.length ? 0 : interval.confidence
  return { figure, ...interval, confidence, limited, differs: !limited && isDifference({ ...interval, confidence }) }
}

/** What a ratio is and how surely, or why it cannot be told. */
export function ratioText({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'the generator was the limit: compare CPU'
  const shown = (value: number) => factor(value, 3)
  if (confidence < SURE) return `${shown(median)} (too few starts for an interval)`
  return `${shown(median)} (${shown(low)} to ${shown(high)}, ${Math.round(confidence * 100)} % sure)`
}

/** All figures of A that these columns tell as a multiple of B's. */
export function ratiosOf(a: RowResult, b: RowResult, columns: Columns): Ratio[] {
  const told = Object.entries(columns).flatMap(([name, column]) => {
    const { head, ratio } = columnOf(column)
    return ratio ? [{ name, head }] : []
  })
  return told.map(({ name, head }) => ratioOf(a, b, name, head))
}

/** A row against another one of the same run. */
export interface Step {
  readonly name: string
  readonly against: string
  readonly ratios: readonly Ratio[]
}

/** What each named row is of another: the gain or the loss of a step. Steps without a result on both sides are left out. */
export function stepsOf(
  results: readonly RowResult[],
  { columns, steps = [] }: Pick<Table, 'columns' | 'steps'>,
): Step[] {
  const pairs = typeof steps === 'function' ? steps(results.map(({ name }) => name)) : steps
  const find = (name: string) => results.find((row) => row.name === name && row.failure === undefined)
  return pairs.flatMap(([of, against]) => {
    const [a, b] = [find(of), find(against)]
    return a && b ? [{ name: `${of} / ${against}`, against, ratios: ratiosOf(a, b, columns) }] : []
  })
}
