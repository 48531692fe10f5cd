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

/** Moves the points in time so that the first one is at 0. */
export function shiftToStart(points: readonly SeriesPoint[]): SeriesPoint[] {
  const first = points[0]?.at ?? 0
  return points.map(({ at, value }) => ({ at: at - first, value }))
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
