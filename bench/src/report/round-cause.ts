import type { RowMetrics } from '../row.ts'

/** Rounds whose values differ by this factor or more have no common value. */
const MAX_SPREAD = 10

/** True if the values of rounds differ so much that their median describes none of them. */
export const isErratic = (values: readonly number[]): boolean => {
  const min = Math.min(...values)
  return min > 0 && Math.max(...values) >= MAX_SPREAD * min
}

/** Share of a latency from which on the lateness of the generator is its cause. */
const MIN_LATENESS_SHARE = 0.5
/** Share of the pace below which requests queue without limit. */
const MIN_REACHED_SHARE = 0.98
/** Shares of the time from which on other programs slow a round. */
const [MIN_STEAL, MIN_WAITING] = [0.02, 0.2]

/** Returns the cause of a slow round; undefined if its metrics do not contain one. */
function findRoundCause(metrics: RowMetrics, value: number): string | undefined {
  const get = (name: string) => Number(metrics[name] ?? Number.NaN)
  if (get('reached') < MIN_REACHED_SHARE) return 'slower than the pace'
  if (get('lateness') >= MIN_LATENESS_SHARE * value) return 'generator late'
  if (get('steal') >= MIN_STEAL) return 'host busy'
  if (get('waiting') >= MIN_WAITING) return 'no free processor'
  return undefined
}

/** Returns the cause of a metric with values that differ by a factor of ten or more: that of its slow rounds. */
export function findCause(rounds: readonly RowMetrics[], name: string): string {
  const values = rounds.map((metrics) => metrics[name]).filter((value) => typeof value === 'number')
  const limit = MAX_SPREAD * Math.min(...values)
  const causes = rounds.flatMap((metrics) => {
    const value = metrics[name]
    return typeof value === 'number' && value >= limit ? [findRoundCause(metrics, value)] : []
  })
  return causes.includes(undefined) ? 'starts differ' : [...new Set(causes)].join(', ')
}
