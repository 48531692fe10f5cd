import type { CollectionRow, Stats } from '@influencer-stats/stats/client'

/** The newest sums of a collection, as its topic states them. */
export interface LiveValue extends Stats {
  readonly id: string
  /** Creation time of the collection. Another one had the id before if it differs from that of the row. */
  readonly created?: string
}

/** A row with the newest value of its topic. */
export interface LiveRow<Row> {
  readonly row: Row
  /**
   * True if the sums changed for another reason than growth: a video was added or removed, its counts appeared or
   * disappeared, or the collection was created again. The row must then be read again.
   */
  readonly isEdited: boolean
}

/** What two sums have to share so that their difference is growth. */
export const basisOf = ({ videos, missing, unknown = [], gone = [], hidden = {} }: Stats) =>
  JSON.stringify([videos, [...missing].sort(), [...unknown].sort(), gone.map(({ id }) => id).sort(), hidden])

/** @returns the row itself if the value is not newer, or is of an earlier collection with the same id */
export function withValue<Row extends CollectionRow | undefined>(row: Row, value: LiveValue | undefined): LiveRow<Row> {
  if (!row) return { row, isEdited: false }
  const { stats, change, created } = row as CollectionRow
  if (!value || value.id !== row.id || (stats && value.asOf < stats.asOf)) return { row, isEdited: false }
  if (value.created !== created) return { row, isEdited: (value.created ?? '') > (created ?? '') }
  const { id: _id, created: _created, ...sums } = value
  const isEdited = !stats || basisOf(stats) !== basisOf(sums)
  if (isEdited || !change) return { row: { ...row, stats: sums }, isEdited }
  const grown = (['impressions', 'engagements', 'score'] as const).map(
    (name) => [name, sums[name] - stats[name]] as const,
  )
  const windows = Object.entries(change).map(([period, growth]) => {
    const sum = grown.map(([name, more]) => [name, growth[name] + more])
    return [period, { ...growth, ...Object.fromEntries(sum) }]
  })
  return { row: { ...row, stats: sums, change: Object.fromEntries(windows) }, isEdited }
}
