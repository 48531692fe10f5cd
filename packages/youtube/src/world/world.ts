import type { Faults } from '../core/faults.ts'
import {
  countUploads,
  createChannel,
  drawChannelNumber,
  formatPlaylistId,
  formatUploadId,
  formatUploadsId,
  getUploadTime,
  hidesSubscribers,
  parseChannelId,
  parseHandle,
  parseUploadId,
  parseUserName,
  type Channel,
} from './channels.ts'
import type { AddedItem, AddedUpload, ChannelFlags } from './world-changes.ts'
import { createSeededRandom } from './seeded-random.ts'
import { getPublishTime, isVideoIdValid } from './video-counts.ts'

/** State from which the world of the stand-in follows. */
export interface WorldState {
  readonly faults: Faults
  readonly uploads: readonly AddedUpload[]
  readonly items: readonly AddedItem[]
  readonly channels: ChannelFlags
}

export interface Video {
  readonly id: string
  readonly channel: Channel
  /** ms since 1970 */
  readonly publishedAt: number
  /** Properties from a control route, which replace the invented ones. */
  readonly added?: AddedUpload
}

export interface Playlist {
  readonly id: string
  readonly channel: Channel
  /** True for the list of all uploads of the channel, newest first. */
  readonly isUploads: boolean
}

/** Video of a playlist. */
export interface PlaylistEntry {
  readonly videoId: string
  /** Time at which it was added (ms since 1970). */
  readonly at: number
}

/** Number of uploads, from the first one, in the other playlist of a channel. */
const PLAYLIST_UPLOADS = 30

const groupBy = <Row>(rows: readonly Row[], getKey: (row: Row) => string) => Map.groupBy(rows, getKey)

/**
 * The videos, channels and playlists that exist. Channels, their uploads and their playlist follow from their numbers;
 * control routes add and remove some. Times are ms since 1970.
 */
export class World {
  readonly #removedVideos: ReadonlySet<string>
  readonly #removedChannels: ReadonlySet<string>
  readonly #hidden: ReadonlySet<string>
  readonly #uploads: ReadonlyMap<string, AddedUpload>
  /** Newest first. */
  readonly #uploadsByChannel: ReadonlyMap<string, readonly AddedUpload[]>
  /** Oldest first. */
  readonly #itemsByPlaylist: ReadonlyMap<string, readonly AddedItem[]>

  constructor({ faults, uploads, items, channels }: WorldState) {
    this.#removedVideos = new Set(faults.gone)
    this.#removedChannels = new Set(channels.removed)
    this.#hidden = new Set(channels.hidden)
    this.#uploads = new Map(uploads.map((upload) => [upload.id, upload]))
    this.#uploadsByChannel = groupBy(
      uploads.toSorted((a, b) => b.at - a.at),
      ({ channel }) => channel,
    )
    this.#itemsByPlaylist = groupBy(
      items.toSorted((a, b) => a.at - b.at),
      ({ playlist }) => playlist,
    )
  }

  #createChannel(number: number | undefined): Channel | undefined {
    if (number === undefined) return undefined
    const channel = createChannel(number)
    return this.#removedChannels.has(channel.id) ? undefined : channel
  }

  getChannel = (id: string): Channel | undefined => this.#createChannel(parseChannelId(id))
  /** @param handle with or without its `@` */
  getChannelByHandle = (handle: string): Channel | undefined => this.#createChannel(parseHandle(handle))
  getChannelByUserName = (name: string): Channel | undefined => this.#createChannel(parseUserName(name))

  hidesSubscribers = (channel: Channel): boolean => this.#hidden.has(channel.id) || hidesSubscribers(channel)

  /** Returns a video if it is public at a time. */
  getVideo(id: string, time: number): Video | undefined {
    if (this.#removedVideos.has(id) || !isVideoIdValid(id)) return undefined
    const added = this.#uploads.get(id)
    if (added) {
      const channel = this.getChannel(added.channel)
      return channel && added.at <= time ? { id, channel, publishedAt: added.at, added } : undefined
    }
    const upload = parseUploadId(id)
    if (upload) {
      const channel = this.#createChannel(upload.number)
      const publishedAt = channel ? getUploadTime(channel, upload.index) : Infinity
      return channel && publishedAt <= time ? { id, channel, publishedAt } : undefined
    }
    const random = createSeededRandom(`${id} snippet`)
    // The first number of this sequence determines the title.
    random()
    const channel = this.#createChannel(drawChannelNumber(random))
    return channel && { id, channel, publishedAt: getPublishTime(id) }
  }

  getPlaylist(id: string): Playlist | undefined {
    const isUploads = id.startsWith('UU')
    const channel = isUploads ? this.getChannel(`UC${id.slice(2)}`) : this.#createChannel(parsePlaylistNumber(id))
    if (!channel || (isUploads ? formatUploadsId(channel) : formatPlaylistId(channel)) !== id) return undefined
    return { id, channel, isUploads }
  }

  /** Yields the videos of a playlist at a time. Removed videos remain in a playlist, but not in the list of uploads. */
  *listEntries({ id, channel, isUploads }: Playlist, time: number): Generator<PlaylistEntry> {
    if (isUploads) return yield* this.#listUploads(channel, time)
    const count = Math.min(PLAYLIST_UPLOADS, countUploads(channel, time))
    for (let i = 0; i < count; i++) yield { videoId: formatUploadId(channel, i), at: getUploadTime(channel, i) }
    for (const { video, at } of this.#itemsByPlaylist.get(id) ?? []) if (at <= time) yield { videoId: video, at }
  }

  /** Returns the number of videos of a playlist. */
  countEntries({ id, channel, isUploads }: Playlist, time: number): number {
    const uploads = countUploads(channel, time)
    if (!isUploads)
      return (
        Math.min(PLAYLIST_UPLOADS, uploads) +
        (this.#itemsByPlaylist.get(id) ?? []).filter(({ at }) => at <= time).length
      )
    const added = (this.#uploadsByChannel.get(channel.id) ?? []).filter(
      (upload) => upload.at <= time && !this.#removedVideos.has(upload.id),
    )
    const removed = [...this.#removedVideos].filter((video) => {
      const upload = parseUploadId(video)
      return upload?.number === channel.number && upload.index < uploads
    })
    return uploads + added.length - removed.length
  }

  *#listUploads(channel: Channel, time: number): Generator<PlaylistEntry> {
    const added = (this.#uploadsByChannel.get(channel.id) ?? []).filter(({ at }) => at <= time)
    let next = 0
    for (let i = countUploads(channel, time) - 1; i >= 0; i--) {
      const at = getUploadTime(channel, i)
      for (; next < added.length && added[next]!.at >= at; next++)
        yield* this.#listPresent(added[next]!.id, added[next]!.at)
      yield* this.#listPresent(formatUploadId(channel, i), at)
    }
    for (; next < added.length; next++) yield* this.#listPresent(added[next]!.id, added[next]!.at)
  }

  *#listPresent(videoId: string, at: number): Generator<PlaylistEntry> {
    if (!this.#removedVideos.has(videoId)) yield { videoId, at }
  }
}

const PLAYLIST_ID = /^PL(\d{4})/

function parsePlaylistNumber(id: string): number | undefined {
  const digits = PLAYLIST_ID.exec(id)?.[1]
  return digits === undefined ? undefined : parseChannelId(`UC${digits.repeat(6).slice(0, 22)}`)
}
