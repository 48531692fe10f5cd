import { toCollectionPath, type ClientRequest } from './client-request.ts'
import type { RangeResults } from '../campaigns/results-reader.ts'
import type { Edits, Totals } from '../core/video-numbers.ts'

/**
 * A point of a history: the sums from `at` until the next point. The edits are those since the previous point.
 */
export interface HistoryPoint extends Totals, Edits {
  readonly at: string
}

export interface StatsHistoryOptions {
  readonly from?: Date
  readonly to?: Date
  /** Width of a step (s), or a day of `zone`: at most one point per step. */
  readonly step?: number | 'day'
  /** IANA time zone; UTC by default. */
  readonly zone?: string
}

export interface ResultsOptions {
  /** First and last day such as 2026-01-31, or a time. By default those of the campaign. */
  readonly from?: string | Date
  readonly to?: string | Date
  /** IANA time zone of the days; UTC by default. */
  readonly zone?: string
}

/** Results of a collection within a range. Times are ISO 8601 strings, as in JSON. */
export interface Results extends Omit<RangeResults, 'from' | 'to'> {
  readonly from: string
  /** End of the range, exclusive. */
  readonly to: string
  readonly zone: string
}

/** Methods for the history of numbers. */
export interface HistoryClient {
  getHistory(id: string, options?: StatsHistoryOptions): Promise<readonly HistoryPoint[] | undefined>
  getVideoHistory(
    id: string,
    video: string,
    options?: StatsHistoryOptions,
  ): Promise<readonly HistoryPoint[] | undefined>
  /** Returns the growth within the campaign's dates, or within another range. */
  getResults(id: string, options?: ResultsOptions): Promise<Results | undefined>
}

export function createHistoryClient(request: ClientRequest): HistoryClient {
  async function readPoints(path: string, { from, to, step, zone }: StatsHistoryOptions = {}) {
    const query = { from: from?.toISOString(), to: to?.toISOString(), step, zone }
    const reply = await request('GET', path, { query })
    return ((await reply?.json()) as { points: HistoryPoint[] } | undefined)?.points
  }

  return {
    getHistory: (id, range) => readPoints(`${toCollectionPath(id)}/stats/history`, range),
    getVideoHistory: (id, video, range) =>
      readPoints(`${toCollectionPath(id)}/videos/${encodeURIComponent(video)}/history`, range),
    async getResults(id, { from, to, zone } = {}) {
      const query = { from: toQueryTime(from), to: toQueryTime(to), zone }
      return (await request('GET', `${toCollectionPath(id)}/results`, { query }))?.json() as Promise<
        Results | undefined
      >
    },
  }
}

const toQueryTime = (time: string | Date | undefined) => (time instanceof Date ? time.toISOString() : time)
