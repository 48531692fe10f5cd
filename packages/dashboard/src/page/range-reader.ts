import type { HistoryPoint, Results } from '@influencer-stats/stats/client'
import { createCampaignSource, stats, type CampaignSource, type ResultsQuery } from './api.ts'
import type { Measure } from './core/growth.ts'
import { getTitle } from './core/names.ts'
import { toRangeGrowth, type SeriesPoint } from './core/series.ts'
import { toStep } from './core/time-ranges.ts'

/** IANA time zone of this browser. */
export const VIEWER_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Value of the comparison with the period before. Other values are ids of campaigns, which contain no `:`. */
export const PERIOD_BEFORE = ':before'

/** The results of a range, and the points of the history within it. */
export interface RangeSeries {
  readonly results: Results
  readonly points: readonly HistoryPoint[]
}

/** A range that another one is compared with. */
export interface ComparedRange extends RangeSeries {
  /** Title of the other campaign. Absent for the period before. */
  readonly title?: string
}

/** Reads the results of a range and its history. Undefined if the campaign does not exist. @throws ServiceError */
export async function readRange(source: CampaignSource, query: ResultsQuery): Promise<RangeSeries | undefined> {
  const results = await source.getResults(query)
  if (!results) return undefined
  const { start, end } = results
  if (!start || !end) return { results, points: [] }
  const [from, to] = [new Date(start.at), new Date(end.at)]
  const points = await source.getHistory(from, toStep(+to - +from), { to, zone: query.zone })
  return { results, points: points ?? [] }
}

/** The growth since the beginning of a range, without edits. Empty if it is unknown. */
export function toGrowthLine(range: RangeSeries | undefined, measure: Measure): SeriesPoint[] {
  if (!range) return []
  const { growth, start, end } = range.results
  if (!growth || !start || !end) return []
  const sums = range.points.map((point) => ({ ...point, at: Date.parse(point.at) }))
  return toRangeGrowth(sums, { growth, start, end }, measure)
}

/** A range by its beginning and its length (ms). */
const toQuery = (from: number, length: number): ResultsQuery => ({
  from: new Date(from).toISOString(),
  to: new Date(from + length).toISOString(),
  zone: VIEWER_ZONE,
})

/**
 * Reads the beginning of a campaign: from its first day, or from its creation if it has no dates.
 * @param length length of the range (ms)
 */
export async function readBeginning(id: string, length: number): Promise<RangeSeries | undefined> {
  const source = createCampaignSource(id)
  const own = await source.getResults({ zone: VIEWER_ZONE })
  return own && readRange(source, toQuery(Date.parse(own.from), length))
}

/**
 * Reads the range that results are compared with: the period of the same length before, or as long a period of another
 * campaign from its start.
 * @throws ServiceError
 */
export async function readComparison(
  versus: string,
  source: CampaignSource,
  results: Results,
): Promise<ComparedRange | undefined> {
  const from = Date.parse(results.from)
  const length = Date.parse(results.to) - from
  if (versus === PERIOD_BEFORE) return readRange(source, toQuery(from - length, length))
  const [row, range] = await Promise.all([stats.get(versus), readBeginning(versus, length)])
  return row && range && { ...range, title: getTitle(row) }
}
