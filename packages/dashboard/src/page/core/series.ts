import { sumEdits, type EditTotals, type Measure } from './growth.ts'

/** A value at one time, such as a sum of a collection. */
export interface SeriesPoint {
  /** ms since 1970 */
  readonly at: number
  readonly value: number
}

const HOUR_MS = 3_600_000

/** Growth per hour between each point and its predecessor. The first point has none. */
export function toHourly(points: readonly SeriesPoint[]): SeriesPoint[] {
  return points.slice(1).map(({ at, value }, i) => {
    const before = points[i]!
    return { at, value: at > before.at ? ((value - before.value) / (at - before.at)) * HOUR_MS : 0 }
  })
}

/** Sums at one time, with the edits since the previous ones. */
export interface EditedSums extends Record<Measure, number>, EditTotals<Record<Measure, number>> {
  /** ms since 1970 */
  readonly at: number
}

/** Sums without the effect of edits. Each point states the edits since its predecessor. */
export function subtractEdits(sums: readonly EditedSums[], measure: Measure): SeriesPoint[] {
  let edited = 0
  return sums.map((point, i) => {
    if (i > 0) edited += sumEdits(point, measure)
    return { at: point.at, value: point[measure] - edited }
  })
}

/** The results of a range, as far as a line of its growth needs them. */
export interface GrowthRange {
  readonly growth: Record<Measure, number> & EditTotals<Record<Measure, number>>
  readonly start: Record<Measure, number> & { readonly at: string }
  readonly end: Record<Measure, number> & { readonly at: string }
}

/**
 * Growth since the beginning of a range, without edits: from 0 at its start to its growth at its end.
 * @param sums the points within the range. Each but the first states the edits since its predecessor
 */
export function toRangeGrowth(sums: readonly EditedSums[], range: GrowthRange, measure: Measure): SeriesPoint[] {
  const [from, to] = [range.start, range.end].map(({ at }) => Date.parse(at)) as [number, number]
  const within = sums.filter(({ at }) => at > from && at <= to)
  // The edits between the start and a point are those of the range without those after the point.
  let later = 0
  const points: SeriesPoint[] = []
  for (const point of within.toReversed()) {
    const edited = sumEdits(range.growth, measure) - later
    if (point.at < to) points.push({ at: point.at, value: point[measure] - range.start[measure] - edited })
    later += sumEdits(point, measure)
  }
  return [{ at: from, value: 0 }, ...points.toReversed(), { at: to, value: range.growth[measure] }]
}

/** The value of a line at a time, between its points. Undefined outside the line. */
export function interpolateAt(points: readonly SeriesPoint[], at: number): number | undefined {
  const next = points.findIndex((point) => point.at >= at)
  const [before, after] = [points[Math.max(0, next - 1)], points[next]]
  if (!before || !after || at < before.at) return undefined
  if (after.at === before.at) return after.value
  return before.value + ((after.value - before.value) * (at - before.at)) / (after.at - before.at)
}

/** The growth since the first point. */
export function subtractFirst(points: readonly SeriesPoint[]): SeriesPoint[] {
  const first = points[0]?.value ?? 0
  return points.map(({ at, value }) => ({ at, value: value - first }))
}

/** Growth as a share of the value before it. Undefined if there was no value before. */
export function computeGrowthShare(now: number, growth: number): number | undefined {
  const before = now - growth
  return before > 0 ? growth / before : undefined
}

/** Joins several series on one axis: all times in order, and the value of each series at each time, or null. */
export function joinSeries(series: readonly (readonly SeriesPoint[])[]): [number[], ...(number | null)[][]] {
  const times = [...new Set(series.flatMap((points) => points.map(({ at }) => at)))].sort((a, b) => a - b)
  const indexes = new Map(times.map((at, i) => [at, i]))
  const values = series.map((points) => {
    const row: (number | null)[] = Array.from({ length: times.length }, () => null)
    for (const { at, value } of points) row[indexes.get(at)!] = value
    return row
  })
  return [times, ...values]
}

/** A path through values in a box, for an SVG; the newest value is at its right edge.
 * @param floor value at the bottom, unless a value is below it */
export function drawPath(values: readonly number[], width: number, height: number, floor = Infinity): string {
  if (values.length < 2) return ''
  const least = Math.min(floor, ...values)
  const range = Math.max(...values) - least
  const y = (value: number) =>
    range === 0 ? (floor === Infinity ? height / 2 : height) : height - ((value - least) / range) * height
  return values
    .map((value, i) => `${i === 0 ? 'M' : 'L'}${((i / (values.length - 1)) * width).toFixed(1)} ${y(value).toFixed(1)}`)
    .join('')
}

/** Samples the last known value at equal steps up to `to`. Steps before the first point have its value. */
export function samplePoints(points: readonly SeriesPoint[], from: number, to: number, steps: number): number[] {
  if (points.length === 0) return []
  const values: number[] = []
  let next = 0
  let value = points[0]!.value
  for (let i = 0; i < steps; i++) {
    const at = from + ((i + 1) / steps) * (to - from)
    while (next < points.length && points[next]!.at <= at) value = points[next++]!.value
    values.push(value)
  }
  return values
}
