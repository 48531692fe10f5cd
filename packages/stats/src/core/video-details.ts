/** What YouTube says of a video besides its numbers; what it does not say is absent. */
export interface VideoDetails {
  readonly id: string
  readonly title?: string
  readonly channel?: string
  readonly channelId?: string
  /** As in JSON. */
  readonly publishedAt?: string
  /** When YouTube was asked (ms since the epoch). */
  readonly asOf: number
}

const LONGEST = 500

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value.slice(0, LONGEST) : undefined)

function time(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString()
}

/** Reads the `snippet` of an item of `videos.list`. */
export function toDetails(item: any, asOf: number): VideoDetails {
  const { title, channelTitle, channelId, publishedAt } = item?.snippet ?? {}
  const all = {
    title: text(title),
    channel: text(channelTitle),
    channelId: text(channelId),
    publishedAt: time(publishedAt),
  }
  const said = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return { id: item.id, ...said, asOf }
}
