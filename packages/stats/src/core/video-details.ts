import { omitUndefined, toText, toTime } from './received/received-text.ts'

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

/** Reads the `snippet` of an item of `videos.list`. */
export function toDetails(item: any, asOf: number): VideoDetails {
  const { title, channelTitle, channelId, publishedAt } = item?.snippet ?? {}
  const present = omitUndefined({
    title: toText(title),
    channel: toText(channelTitle),
    channelId: toText(channelId),
    publishedAt: toTime(publishedAt),
  })
  return { id: item.id, ...present, asOf }
}
