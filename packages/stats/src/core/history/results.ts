import { diffEdits, removeEdits } from '../edits.ts'
import { getAge, getConfirmedUntil, interpolatePoint, type PointsAround } from '../growth.ts'
import type { Point } from '../history-points.ts'
import { toIsoTime } from '../iso-time.ts'
import type { Edits, Totals } from '../video-numbers.ts'

/** Names of the sums that can grow. */
type GrowingTotals = Pick<Totals, 'impressions' | 'engagements' | 'score'>

/**
 * Knowledge of the sums at an end of a range. `exact`: numbers confirm them at that time. `interpolated`: they lie between
 * two known sums. `first`: they are the first known ones, after that time. `last`: they are the last known ones, before it.
 */
export const SUMS_QUALITIES = ['exact', 'interpolated', 'first', 'last'] as const
export type SumsQuality = (typeof SUMS_QUALITIES)[number]

/** The sums at a time, as far as they are known. */
export interface KnownSums {
  /** The sums. `at` is their time: that of the range, except with `first` and `last`. */
  readonly point: Point
  readonly quality: SumsQuality
  /** Length of the time without known sums at this end (ms); 0 if exact. */
  readonly gap: number
  /** Age of the oldest of the numbers when their sums were stored (ms). */
  readonly age: number
}

/** An end of a range as replies state it. Durations in seconds, times as ISO 8601 texts. */
export interface ResultsEnd extends Totals {
  readonly at: string
  readonly quality: SumsQuality
  readonly gap: number
  readonly age: number
}

/** Growth within a range. Edits (`added`, `removed`) are stated separately and are not part of the growth. */
export interface RangeGrowth extends GrowingTotals, Edits {}

/**
 * Returns the sums at a time; undefined if the history has no point.
 * @param points the points around `at`
 * @param confirmedUntil last time at which the sums of the last point were confirmed (ms)
 */
export function findSums(
  at: number,
  { before, next }: PointsAround,
  confirmedUntil = -Infinity,
): KnownSums | undefined {
  if (!before) return next && { point: next, quality: 'first', gap: next.at - at, age: getAge(next) }
  const age = getAge(before)
  const confirmed = next ? getConfirmedUntil(before, next) : Math.max(before.at, confirmedUntil)
  if (at <= confirmed) return { point: { ...before, at }, quality: 'exact', gap: 0, age }
  if (!next) return { point: { ...before, at: confirmed }, quality: 'last', gap: at - confirmed, age }
  const point = interpolatePoint(before, next, confirmed, at)
  return { point, quality: 'interpolated', gap: next.at - confirmed, age: Math.max(age, getAge(next)) }
}

/** Returns the growth between two times; undefined if no sums are known between them. */
export function diffSums(start: KnownSums, end: KnownSums): RangeGrowth | undefined {
  if (start.quality === 'last' || end.quality === 'first') return undefined
  if (end.point.at < start.point.at) return undefined
  const [from, to] = [removeEdits(start.point), removeEdits(end.point)]
  return {
    impressions: to.impressions - from.impressions,
    engagements: to.engagements - from.engagements,
    score: to.score - from.score,
    ...diffEdits(end.point, start.point),
  }
}

/** Returns an end of a range as replies state it. */
export function toResultsEnd({ point, quality, gap, age }: KnownSums): ResultsEnd {
  const { at, impressions, engagements, score, videos } = point
  const toSeconds = (duration: number) => Math.round(duration / 1_000)
  const sums = { at: toIsoTime(at), impressions, engagements, score, videos }
  return { ...sums, quality, gap: toSeconds(gap), age: toSeconds(age) }
}
