import { sumEdits, type EditTotals, type Measure } from './growth.ts'

/** What a collection's sums were at a time. */
export interface SeriesPoint {
  /** ms since 1970 */
  readonly at: number
  readonly value: number
}

const HOUR_MS = 3_600_000

/** Growth an hour between one point and the next; there is none before the first. */
export function toHourly(points: readonly SeriesPoint[]): SeriesPoint[] {
  return points.slice(1).map(({ at, value }, i) => {
    const before = points[i]!
    return { at, value: at > before.at ? ((value - before.value) / (at - before.at)) * HOUR_MS : 0 }
  })
}

interface EditedSums extends Record<Measure, number>, EditTotals<Record<Measure, number>> {
  readonly at: number
}

/** Sums as only growth changes them: each point states the edits since the point before it. */
export function subtractEdits(sums: readonly EditedSums[], measure: Measure): SeriesPoint[] {
  let edited = 0
  return sums.map((point, i) => {
    if (i > 0) edited += sumEdits(point, measure)
    return { at: point.at, value: point[measure] - edited }
  })
}

/** Moved so that the first point is at 0. */
export function shiftToStart(points: readonly SeriesPoint[]): SeriesPoint[] {
  const first = points[0]?.at ?? 0
  return points.map(({ at, value }) => ({ at: at - first, value }))
}

/** What has come since the first point. */
export function subtractFirst(points: readonly SeriesPoint[]): SeriesPoint[] {
  const first = points[0]?.value ?? 0
  return points.map(({ at, value }) => ({ at, value: value - first }))
}

/** By how much something has grown, as a share of what it was; nothing where there was nothing. */
export function computeGrowthShare(now: number, growth: number): number | undefined {
  const before = now - growth
  return before > 0 ? growth / before : undefined
}

/** Several series on one axis: all times in order, and each series' value there, or null where it has none. */
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
 * @param floor what the bottom is, unless a value is below */
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

/** The value at each of so many equal steps up to `to`: what was known then. Steps before the first point have its value. */
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
