import type { CollectionRow, Stats } from '@influencer-stats/stats/client'

/** The newest sums of a collection, from its topic of sse. It has no sums if stats has no numbers of its present source yet. */
export type LiveValue = LiveOrigin & (Stats | { readonly asOf?: undefined; readonly source?: string })

/** The collection that a live value belongs to. */
interface LiveOrigin {
  readonly id: string
  /** Version of the collection whose videos are summed. Absent in values of older versions of stats. */
  readonly version?: string
  /** Creation time of the collection. If it differs from that of the row, two collections have had this id. */
  readonly created?: string
}

/** A row with the newest value of its topic. */
export interface LiveRow {
  readonly row: CollectionRow
  /**
   * True if the value does not fit the row: videos or counts changed, the collection was created again, the sums have
   * another source or are absent, an outage ended, or the 24-hour window is too old. The row is unchanged, and the page must
   * read it again.
   */
  readonly isOutdated: boolean
}

/**
 * Live values add growth after the end of a row's 24-hour window. If a value is more than this time after that end (ms;
 * 2 % of the window), the page reads the row again.
 */
const MAX_DRIFT_MS = 1_728_000

/**
 * The basis of sums: the videos and counts that they contain. The difference of two sums is growth only if their bases are
 * equal.
 */
export const toBasis = ({ videos, missing, unknown = [], gone: removed = [], hidden = {} }: Stats) =>
  JSON.stringify([videos, [...missing].sort(), [...unknown].sort(), removed.map(({ id }) => id).sort(), hidden])

/** @returns the row itself if the value is older, is of another or an earlier collection, or makes the row outdated */
export function mergeValue(row: CollectionRow, value: LiveValue | undefined): LiveRow {
  const { stats, change, created } = row
  if (!value || value.id !== row.id) return { row, isOutdated: false }
  if (value.created !== created) return { row, isOutdated: (value.created ?? '') > (created ?? '') }
  // An edit is not growth.
  if (value.version !== undefined && value.version !== row.version)
    return { row, isOutdated: Number(value.version) > Number(row.version) }
  if (value.asOf === undefined) return { row, isOutdated: stats !== undefined }
  if (stats && value.source !== stats.source) return { row, isOutdated: true }
  if (stats && value.asOf < stats.asOf) return { row, isOutdated: false }
  const { id: _id, created: _created, version: _version, ...sums } = value
  if (!stats || toBasis(stats) !== toBasis(sums)) return { row, isOutdated: true }
  if (!change) return { row: { ...row, stats: sums }, isOutdated: false }
  // Some numbers in stale sums may be from today, and the others from before an outage: their growth has no clear start.
  if ((sums.stale || stats.stale) && sums.impressions !== stats.impressions) return { row, isOutdated: true }
  const { until = stats.asOf } = change['24h']
  if (Date.parse(sums.asOf) - Date.parse(until) > MAX_DRIFT_MS) return { row, isOutdated: true }
  const increases = (['impressions', 'engagements', 'score'] as const).map(
    (name) => [name, sums[name] - stats[name]] as const,
  )
  const windows = Object.entries(change).map(([period, growth]) => {
    const sum = increases.map(([name, more]) => [name, growth[name] + more])
    return [period, { ...growth, ...Object.fromEntries(sum) }]
  })
  return { row: { ...row, stats: sums, change: Object.fromEntries(windows) }, isOutdated: false }
}

/**
 * The row with the sums that the page shows, and with its added videos as `unknown`. The API states no sums until it has
 * read these videos. If the row lacks sums for another reason, it stays as it is.
 */
function withShownSums(row: CollectionRow, shown: CollectionRow, sums: Stats): CollectionRow {
  const unknown = [...(sums.unknown ?? []), ...row.videos.filter((video) => !shown.videos.includes(video))]
  const isExplained = unknown.length > 0 && shown.videos.every((video) => row.videos.includes(video))
  return isExplained ? { ...row, stats: { ...sums, unknown }, ...(shown.change && { change: shown.change }) } : row
}

/**
 * A row from the API, with the sums that the page shows if those are newer. A reply may be older than the newest live
 * value, or come from a node that lags. After an edit `asOf` is the time of the oldest number, so only sums of the same
 * videos are compared.
 */
export function mergeNewerSums(row: CollectionRow, shown: CollectionRow | undefined): CollectionRow {
  const { stats } = row
  if (!shown?.stats || shown.id !== row.id || shown.created !== row.created) return row
  if (!stats) return withShownSums(row, shown, shown.stats)
  if (shown.videos.join() !== row.videos.join() || shown.stats.asOf <= stats.asOf) return row
  if (shown.stats.source !== stats.source) return row
  const isStale = stats.stale || shown.stats.stale
  return { ...row, stats: { ...shown.stats, stale: isStale }, ...(shown.change && { change: shown.change }) }
}
