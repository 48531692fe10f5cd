import type { HistoryPoint, Results } from '@influencer-stats/stats/client'
import { createCampaignSource, stats, type CampaignSource, type ResultsQuery } from './api.ts'
import { getTitle } from './core/names.ts'
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
  const [from, to] = [Date.parse(results.from), Date.parse(results.to)]
  const toQuery = (start: number): ResultsQuery => ({
    from: new Date(start).toISOString(),
    to: new Date(start + to - from).toISOString(),
    zone: VIEWER_ZONE,
  })
  if (versus === PERIOD_BEFORE) return readRange(source, toQuery(from - (to - from)))
  const other = createCampaignSource(versus)
  const [row, own] = await Promise.all([stats.get(versus), other.getResults({ zone: VIEWER_ZONE })])
  const range = row && own && (await readRange(other, toQuery(Date.parse(own.from))))
  return range && { ...range, title: getTitle(row) }
}
