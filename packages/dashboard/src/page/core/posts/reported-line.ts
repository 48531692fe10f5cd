import type { ReportedHistoryPoint } from '@influencer-stats/stats/client'

/** A value at a time (ms since 1970). */
interface LinePoint {
  readonly at: number
  readonly value: number
}

/**
 * Returns reported sums as a line of steps: a value remains until the next report, because nothing is known between them.
 * @param until end of the line (ms since 1970)
 */
export function toReportedLine(
  points: readonly ReportedHistoryPoint[],
  measure: 'impressions' | 'engagements',
  until: number,
): LinePoint[] {
  const line: LinePoint[] = []
  for (const { at, [measure]: value } of points) {
    if (value === undefined) continue
    const last = line.at(-1)
    const time = Date.parse(at)
    if (last) line.push({ at: time - 1, value: last.value })
    line.push({ at: time, value })
  }
  const last = line.at(-1)
  if (last && last.at < until) line.push({ at: until, value: last.value })
  return line
}
