import { SATURATED_SHARE } from './load/load-plan.ts'
import { toColumn, getNumbers, type Columns } from './report/columns.ts'
import { formatFactor } from './report/format-numbers.ts'
import type { RowResult } from './row.ts'
import type { BenchTable } from './tables/table.ts'
import { isDifference, computeMedianInterval, MIN_CONFIDENCE, type MedianInterval } from './statistics.ts'

/** A metric of A as a multiple of B's. */
export interface Ratio extends MedianInterval {
  /** Heading of its column. */
  readonly heading: string
  readonly differs: boolean
  /** True if a generator limited one side: then the ratio does not describe the servers. */
  readonly limited: boolean
}

/** Metrics per second, which a saturated generator limits. The cost of a request stays valid. */
const RATE_COLUMNS = new Set(['perSecond', 'deliveries', 'prices'])
const isLimited = (result: RowResult) => getNumbers(result, 'generator').some((share) => share >= SATURATED_SHARE)

/** A metric of A as a multiple of B's, from rounds measured next to each other, each with its own start. */
export function computeRatio(a: RowResult, b: RowResult, name: string, heading = name): Ratio {
  const [of, against] = [getNumbers(a, name), getNumbers(b, name)]
  const ratios = of.slice(0, against.length).map((value, i) => value / against[i]!)
  const interval = computeMedianInterval(ratios)
  const limited = RATE_COLUMNS.has(name) && (isLimited(a) || isLimited(b))
  // Rounds of one start do not show how starts differ.
  const confidence = Math.min(a.starts, b.starts) < ratios.length ? 0 : interval.confidence
  return { heading, ...interval, confidence, limited, differs: !limited && isDifference({ ...interval, confidence }) }
}

/** The ratio with its interval, or the reason for its absence. */
export function formatRatio({ limited, median, low, high, confidence }: Ratio): string {
  if (limited) return 'the generator was the limit: compare CPU'
  const shown = (value: number) => formatFactor(value, 3)
  if (confidence < MIN_CONFIDENCE) return `${shown(median)} (too few starts for an interval)`
  return `${shown(median)} (${shown(low)} to ${shown(high)}, ${Math.round(confidence * 100)} % sure)`
}

/** All metrics of A in these columns as multiples of B's. */
export function computeRatios(a: RowResult, b: RowResult, columns: Columns): Ratio[] {
  const selected = Object.entries(columns).flatMap(([name, column]) => {
    const { head, ratio } = toColumn(column)
    return ratio ? [{ name, head }] : []
  })
  return selected.map(({ name, head }) => computeRatio(a, b, name, head))
}

/** A row compared with another one of the same run. */
export interface RatioStep {
  readonly name: string
  readonly against: string
  readonly ratios: readonly Ratio[]
}

/** Compares each named row with another: the gain or loss of a step. Omits steps without a result on both sides. */
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
