import { SATURATED_SHARE } from './load/load-plan.ts'
import { toColumn, getMetric, getNumbers, type Column, type Columns } from './report/columns.ts'
import { formatFactor } from './report/format-numbers.ts'
import type { RowResult } from './row.ts'
import { listSteps, type BenchTable } from './table.ts'
import {
  computeMedianInterval,
  MIN_CONFIDENCE,
  judgeRatio,
  type RatioVerdict,
  type MedianInterval,
} from './statistics.ts'

/** A metric of A as a multiple of B's. */
export interface Ratio extends MedianInterval {
  /** Heading of the metric's column. */
  readonly heading: string
  readonly verdict: RatioVerdict
  /** Reason if there is no ratio, because the two rows did different work. */
  readonly different?: string | undefined
  /** True if the generator limited A or B. The ratio then does not describe the servers. */
  readonly limited: boolean
}

/** Metrics that a saturated generator limits. The cost of a request stays valid. */
const RATE_COLUMNS = new Set(['perSecond', 'deliveries', 'prices'])
const isLimited = (result: RowResult) => getNumbers(result, 'generator').some((share) => share >= SATURATED_SHARE)

/**
 * Computes a metric of A as a multiple of B's: from pairs of starts that were loaded in turn, or from rounds. The n-th
 * round of A is compared with the n-th round of B.
 */
export function computeRatio(a: RowResult, b: RowResult, name: string, heading = name): Ratio {
  const pairs = a.comparisons?.[b.name]
  const isPaired = pairs !== undefined && (name === 'cpu' || name === 'perSecond')
  const ratios = isPaired ? pairs.map((pair) => pair[name]) : divideRounds(a, b, name)
  const interval = computeMedianInterval(ratios)
  const isSaturated = isPaired
    ? pairs.some(({ generator }) => generator >= SATURATED_SHARE)
    : isLimited(a) || isLimited(b)
  const limited = RATE_COLUMNS.has(name) && isSaturated
  // Rounds with the same start do not show the variation between starts.
  const hasStarts = isPaired || Math.min(a.starts, b.starts) >= ratios.length
  const confidence = hasStarts ? interval.confidence : 0
  const verdict = limited ? 'cannot tell' : judgeRatio({ ...interval, confidence })
  return { heading, ...interval, confidence, limited, verdict }
}

function divideRounds(a: RowResult, b: RowResult, name: string): number[] {
  const [of, against] = [getNumbers(a, name), getNumbers(b, name)]
  return of.slice(0, against.length).map((value, i) => value / against[i]!)
}

/** Formats a ratio with its interval, or the reason why it is not shown. */
export function formatRatio({ limited, different, median, low, high, confidence }: Ratio): string {
  if (different !== undefined) return different
  if (limited) return 'the generator was the limit: compare CPU'
  const format = (value: number) => formatFactor(value, 3)
  if (confidence < MIN_CONFIDENCE) return `${format(median)} (too few starts for an interval)`
  return `${format(median)} (${format(low)} to ${format(high)}, ${Math.round(confidence * 100)} % sure)`
}

/** Computes the ratios of all columns that are compared. */
export function computeRatios(a: RowResult, b: RowResult, columns: Columns): Ratio[] {
  return Object.entries(columns).flatMap(([name, column]) => {
    const { head, ratio, equal } = toColumn(column)
    if (!ratio) return []
    const different = equal === undefined ? undefined : findDifference(a, b, equal, toColumn(columns[equal] ?? equal))
    const computed = computeRatio(a, b, name, head)
    return [different === undefined ? computed : { ...computed, different, verdict: 'cannot tell' }]
  })
}

/** Values of two rows that differ by more than this factor are not the same load. */
const MAX_LOAD_RATIO = 1.25

/** Describes the different loads of two rows; undefined if they are about equal. */
function findDifference(a: RowResult, b: RowResult, metric: string, { head, format = String }: Column) {
  const [own, other] = [getMetric(a, metric), getMetric(b, metric)]
  if (own === undefined || other === undefined || Math.max(own / other, other / own) <= MAX_LOAD_RATIO) return undefined
  return `different loads: ${format(own)} and ${format(other)} ${head}`
}

/** Computes the ratios of each step. Omits steps of which one row has no result. */
export function computeSteps(results: readonly RowResult[], table: Pick<BenchTable, 'columns' | 'steps'>) {
  const find = (name: string) => results.find((row) => row.name === name && row.failure === undefined)
  const names = results.map(({ name }) => name)
  return listSteps(table, names).flatMap(([of, against]) => {
    const [a, b] = [find(of), find(against)]
    if (!a || !b) return []
    const connections = a.connections === b.connections ? a.connections : undefined
    return [{ name: `${of} / ${against}`, against, connections, ratios: computeRatios(a, b, table.columns) }]
  })
}
