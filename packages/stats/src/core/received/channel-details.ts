import { omitUndefined, toText, toTime } from './received-text.ts'

/** Data of a channel. Fields that YouTube does not state are absent. */
export interface ChannelDetails {
  readonly id: string
  readonly title?: string
  /** Such as `@GoogleDevelopers`. */
  readonly handle?: string
  /** URL of the picture, on a host of YouTube. */
  readonly thumbnail?: string
  /** Rounded down to three significant digits by YouTube. Absent if the channel hides it. */
  readonly subscribers?: number
  /** True if the channel hides its subscribers. */
  readonly hidesSubscribers?: true
  readonly views?: number
  readonly videos?: number
  /** Playlist of all uploads. */
  readonly uploads?: string
  /** ISO 8601. */
  readonly publishedAt?: string
  /** Request time (ms since the epoch). */
  readonly asOf: number
}

/** Counts of a channel, as parsed. */
export type ChannelCounts = Pick<ChannelDetails, 'subscribers' | 'views' | 'videos'>

const MAX_URL_LENGTH = 500
const THUMBNAIL =
  /^https:\/\/(yt\d\.ggpht\.com|yt\d\.googleusercontent\.com|lh\d\.googleusercontent\.com)\/[\w\-./=~%]+$/
const PLAYLIST_ID = /^[\w-]{2,64}$/

export const isPlaylistId = (value: unknown): value is string => typeof value === 'string' && PLAYLIST_ID.test(value)

const toThumbnail = (value: unknown) =>
  typeof value === 'string' && value.length <= MAX_URL_LENGTH && THUMBNAIL.test(value) ? value : undefined

/** Reads an item of `channels.list`. @param counts its counts, which the caller has parsed */
export function toChannelDetails(
  item: any,
  { subscribers, views, videos }: ChannelCounts,
  asOf: number,
): ChannelDetails {
  const { title, customUrl, publishedAt, thumbnails } = item?.snippet ?? {}
  const isHidden = item?.statistics?.hiddenSubscriberCount === true
  const uploads = item?.contentDetails?.relatedPlaylists?.uploads
  return {
    id: item.id,
    ...omitUndefined({
      title: toText(title),
      handle: toText(customUrl),
      thumbnail: toThumbnail(thumbnails?.medium?.url ?? thumbnails?.default?.url),
      // Of a hidden count YouTube has also sent 0.
      subscribers: isHidden ? undefined : subscribers,
      hidesSubscribers: isHidden || undefined,
      views,
      videos,
      uploads: isPlaylistId(uploads) ? uploads : undefined,
      publishedAt: toTime(publishedAt),
    }),
    asOf,
  }
}
