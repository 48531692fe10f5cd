/** Data of a video other than its numbers. Fields that YouTube does not state are absent. */
export interface VideoDetails {
  readonly id: string
  readonly title?: string
  readonly channel?: string
  readonly channelId?: string
  /** ISO 8601. */
  readonly publishedAt?: string
  /** Request time (ms since the epoch). */
  readonly asOf: number
}

const MAX_TEXT_LENGTH = 500

const toText = (value: unknown) =>
  typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT_LENGTH) : undefined

function toTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** Reads the `snippet` of an item of `videos.list`. */
export function toDetails(item: any, asOf: number): VideoDetails {
  const { title, channelTitle, channelId, publishedAt } = item?.snippet ?? {}
  const all = {
    title: toText(title),
    channel: toText(channelTitle),
    channelId: toText(channelId),
    publishedAt: toTime(publishedAt),
  }
  const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return { id: item.id, ...present, asOf }
}
