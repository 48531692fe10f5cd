/** Median and range of some numbers. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

const sortAscending = (values: readonly number[]) => values.toSorted((a, b) => a - b)

export function computeMedian(values: readonly number[]): number {
  const sorted = sortAscending(values)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function computeSpread(values: readonly number[]): Spread {
  return { median: computeMedian(values), min: Math.min(...values), max: Math.max(...values) }
}

/** A median, and an interval that contains the true one with at least the given confidence. */
export interface MedianInterval {
  readonly median: number
  readonly low: number
  readonly high: number
  /** 0 to 1; below the requested confidence if there are too few values. */
  readonly confidence: number
}

/** Minimum confidence of a published interval. Six values are enough for it. */
export const MIN_CONFIDENCE = 0.95

/** The probability that a fair coin shows heads at most `k` times in `n` throws. */
function computeBinomialTail(n: number, k: number): number {
  let term = 0.5 ** n
  let sum = term
  for (let i = 1; i <= k; i++) {
    term *= (n - i + 1) / i
    sum += term
  }
  return sum
}

/**
 * Computes an interval for the median by order statistics, for any distribution. The true median is above each value
 * with probability 1/2. So it is between the k-th smallest and the k-th largest of n values with probability 1 - 2
 * P(heads < k).
 */
export function computeMedianInterval(values: readonly number[], confidence = MIN_CONFIDENCE): MedianInterval {
  const sorted = sortAscending(values)
  const n = sorted.length
  let k = 0
  while (k + 1 < n / 2 && 1 - 2 * computeBinomialTail(n, k + 1) >= confidence) k++
  return {
    median: computeMedian(sorted),
    low: sorted[k]!,
    high: sorted[n - 1 - k]!,
    confidence: 1 - 2 * computeBinomialTail(n, k),
  }
}

// Two measurements of the same program on a shared machine differ by less than this ratio.
const MIN_DIFFERENCE_RATIO = 0.02

/** True for a real difference: the interval is certain and excludes 1, the median is more than 2 % from 1. */
export const isDifference = ({ median: middle, low, high, confidence }: MedianInterval): boolean =>
  confidence >= MIN_CONFIDENCE && (low > 1 || high < 1) && Math.abs(middle - 1) > MIN_DIFFERENCE_RATIO

// Differences below this ratio are too small to matter for a choice.
const MAX_EQUAL_RATIO = 0.05

/**
 * What an interval of a ratio shows. `cannot tell`: the ratio may be 1, and may also be far from 1: more pairs, or a
 * quieter machine, are needed.
 */
export type RatioVerdict = 'difference' | 'no difference' | 'cannot tell'

/** Returns `no difference` only if the whole interval is within 5 % of 1. */
export function judgeRatio(interval: MedianInterval): RatioVerdict {
  if (isDifference(interval)) return 'difference'
  const { low, high, confidence } = interval
  const isEqual = confidence >= MIN_CONFIDENCE && low >= 1 / (1 + MAX_EQUAL_RATIO) && high <= 1 + MAX_EQUAL_RATIO
  return isEqual ? 'no difference' : 'cannot tell'
}
