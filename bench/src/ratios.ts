import { SATURATED_SHARE } from './load/load-plan.ts'
import { toColumn, getNumbers, type Columns } from './report/columns.ts'
import { formatFactor } from './report/format-numbers.ts'
import type { RowResult } from './row.ts'
import type { BenchTable } from './tables/table.ts'
import { isDifference, computeMedianInterval, MIN_CONFIDENCE, type MedianInterval } from './statistics.ts'

/** One figure of A as a multiple of B's. */
export interface Ratio extends MedianInterval {
  /** The head of its column. */
  readonly heading: string
  readonly differs: boolean
  /** Whether a side was limited by its generator: then this is no ratio of what the servers can do. */
  readonly limited: boolean
}

/** What a generator limits where it takes all of a processor: figures a second. What a request costs stays true. */
const RATE_COLUMNS = new Set(['perSecond', 'deliveries', 'prices'])
const isLimited = (result: RowResult) => getNumbers(result, 'generator').some((share) => share >= SATURATED_SHARE)

/** One figure of A as a multiple of B's, from rounds that were measured next to each other, each on a start of its own. */
export function computeRatio(a: RowResult, b: RowResult, name: string, heading = name): Ratio {
  const [of, against] = [getNumbers(a, name), getNumbers(b, name)]
  const ratios = of.slice(0, against.length).map((value, i) => value / against[i]!)
  const interval = computeMedianInterval(ratios)
  const limited = RATE_COLUMNS.has(name) && (isLimited(a) || isLimited(b))
  // Rounds on one start do not know how starts differ.
  const confidence = Math.min(a.starts, b.starts) < ratios.length ? 0 : interval.confidence
  return { heading, ...interval, confidence, limited, differs: !limited && isDifference({ ...interval, confidence }) }
}

/** What a ratio is and how surely, or why it cannot be told. */
export function formatRatio({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'the generator was the limit: compare CPU'
  const shown = (value: number) => formatFactor(value, 3)
  if (confidence < MIN_CONFIDENCE) return `${shown(median)} (too few starts for an interval)`
  return `${shown(median)} (${shown(low)} to ${shown(high)}, ${Math.round(confidence * 100)} % sure)`
}

/** All figures of A that these columns tell as a multiple of B's. */
export function computeRatios(a: RowResult, b: RowResult, columns: Columns): Ratio[] {
  const selected = Object.entries(columns).flatMap(([name, column]) => {
    const { head, ratio } = toColumn(column)
    return ratio ? [{ name, head }] : []
  })
  return selected.map(({ name, head }) => computeRatio(a, b, name, head))
}

/** A row against another one of the same run. */
export interface RatioStep {
  readonly name: string
  readonly against: string
  readonly ratios: readonly Ratio[]
}

/** What each named row is of another: the gain or the loss of a step. Steps without a result on both sides are left out. */
export function computeSteps(
  results: readonly RowResult[],
  { columns, steps = [] }: Pick<BenchTable, 'columns' | 'steps'>,
): RatioStep[] {
  const pairs = typeof steps === 'function' ? steps(results.map(({ name }) => name)) : steps
  const find = (name: string) => results.find((row) => row.name === name && row.failure === undefined)
  return pairs.flatMap(([of, against]) => {
    const [a, b] = [find(of), find(against)]
    return a && b ? [{ name: `${of} / ${against}`, against, ratios: computeRatios(a, b, columns) }] : []
  })
}
