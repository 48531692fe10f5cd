import { isVideoId } from '../core/ids.ts'
import { isPlaylistId } from '../core/received/channel-details.ts'
import { omitUndefined, toText, toTime } from '../core/received/received-text.ts'
import { parseErrorReply, type ReplyContext } from './error-reply.ts'
import { parseListReply } from './list-reply.ts'
import { createUnreadableReply, UpstreamProblem } from './upstream-problem.ts'

const ITEMS_QUERY =
  'part=snippet,contentDetails&maxResults=50&prettyPrint=false&fields=kind,etag,nextPageToken,pageInfo/totalResults,' +
  'items(snippet(title,description,playlistId,publishedAt,videoOwnerChannelId),contentDetails(videoId,videoPublishedAt))'
const PLAYLISTS_QUERY =
  'part=snippet,contentDetails&prettyPrint=false&fields=kind,items(id,snippet(title,channelId,channelTitle),' +
  'contentDetails/itemCount)'

/** Returns the path and query of a request for a page of a playlist. */
export function buildPlaylistItemsPath(playlist: string, pageToken: string | undefined, key: string): string {
  const page = pageToken === undefined ? '' : `&pageToken=${encodeURIComponent(pageToken)}`
  return `/youtube/v3/playlistItems?${ITEMS_QUERY}&playlistId=${encodeURIComponent(playlist)}${page}&key=${encodeURIComponent(key)}`
}

export const buildPlaylistPath = (playlist: string, key: string): string =>
  `/youtube/v3/playlists?${PLAYLISTS_QUERY}&id=${encodeURIComponent(playlist)}&key=${encodeURIComponent(key)}`

/** Video of a playlist. Fields that YouTube does not state are absent. */
export interface PlaylistVideo {
  readonly id: string
  readonly title?: string
  readonly description?: string
  /** Channel of the video, which may differ from that of the playlist. */
  readonly channelId?: string
  /** Publication of the video, in ISO 8601. Absent if the video was removed or is private. */
  readonly publishedAt?: string
  /** Time at which the video was added to the playlist, in ISO 8601. */
  readonly addedAt?: string
}

/** Result of a request for a page of a playlist. */
export type PlaylistPage =
  | {
      readonly state: 'found'
      readonly videos: readonly PlaylistVideo[]
      /** Total number of videos. */
      readonly total?: number
      readonly nextPageToken?: string
      /** ETag for the next request. Absent if an item was unreadable, so that the next request reads the page again. */
      readonly etag?: string
    }
  /** The page is the one that the sent ETag names. */
  | { readonly state: 'unchanged' }
  /** The playlist does not exist, is private, or cannot be listed. @property reason that of Google */
  | { readonly state: 'inaccessible'; readonly reason: string }

/** Reasons that concern the playlist only. As a fault, a 403 would pause all calls. */
const PLAYLIST_REASONS = /^(playlistNotFound|playlistItemsNotAccessible|playlistOperationUnsupported)$/

const MAX_DESCRIPTION_LENGTH = 5_000
const MAX_TOKEN_LENGTH = 2_000

/** Returns the video of an item; undefined if the item is unreadable. @throws Problem if it is of another playlist */
function parseItem(item: any, playlist: string): PlaylistVideo | undefined {
  const { snippet, contentDetails } = item ?? {}
  const id: unknown = contentDetails?.videoId
  if (snippet?.playlistId !== undefined && snippet.playlistId !== playlist)
    throw createUnreadableReply('the response contained an item of another playlist')
  if (typeof id !== 'string' || !isVideoId(id)) return undefined
  const { title, description, videoOwnerChannelId, publishedAt } = snippet ?? {}
  return {
    id,
    ...omitUndefined({
      title: toText(title),
      description: toText(description, MAX_DESCRIPTION_LENGTH),
      channelId: toText(videoOwnerChannelId),
      publishedAt: toTime(contentDetails.videoPublishedAt),
      addedAt: toTime(publishedAt),
    }),
  }
}

/** Request that a reply of `playlistItems.list` answers. */
export interface PlaylistRequest {
  readonly playlist: string
  /** The sent ETag. */
  readonly etag?: string | undefined
  readonly pageToken?: string | undefined
}

/**
 * Parses a reply of `playlistItems.list`.
 * @throws Problem `UPSTREAM_UNAVAILABLE` for other error replies, for content that the API never returns, and if no item
 * is readable
 */
export function parsePlaylistPage(
  status: number,
  text: string,
  { playlist, etag: sentEtag }: PlaylistRequest,
  context: ReplyContext = {},
): PlaylistPage {
  if (status === 304 && sentEtag !== undefined) return { state: 'unchanged' }
  if (status !== 200) {
    const fault = parseErrorReply(status, text, context)
    if (fault.reason !== undefined && PLAYLIST_REASONS.test(fault.reason))
      return { state: 'inaccessible', reason: fault.reason }
    throw new UpstreamProblem(fault)
  }
  const { items, reply } = parseListReply(status, text, {
    kind: 'youtube#playlistItemListResponse',
    noun: 'playlist items',
  })
  const { etag, nextPageToken, pageInfo } = reply
  const total = pageInfo?.totalResults
  const isTotalValid = Number.isSafeInteger(total) && total >= 0
  // Each page but the one after the last video has items.
  if (items.length === 0 && (nextPageToken !== undefined || (isTotalValid && total > 0 && reply.items === undefined)))
    throw createUnreadableReply('the response contained none of the playlist items')
  const parsed = items.map((item) => parseItem(item, playlist))
  const videos = parsed.filter((video) => video !== undefined)
  if (items.length > 0 && videos.length === 0) throw createUnreadableReply('the response contained no readable item')
  const isComplete = videos.length === items.length
  return {
    state: 'found',
    videos,
    ...omitUndefined({
      total: isTotalValid ? (total as number) : undefined,
      nextPageToken: toText(nextPageToken, MAX_TOKEN_LENGTH),
      etag: isComplete ? toText(etag, MAX_TOKEN_LENGTH) : undefined,
    }),
  }
}

/** A playlist. Fields that YouTube does not state are absent. */
export interface Playlist {
  readonly id: string
  readonly title?: string
  readonly channelId?: string
  readonly channel?: string
  /** Number of videos. */
  readonly videos?: number
}

/**
 * Parses a reply of `playlists.list` for one id. Undefined if the playlist does not exist.
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply and for content that the API never returns
 */
export function parsePlaylist(
  status: number,
  text: string,
  playlist: string,
  context: ReplyContext = {},
): Playlist | undefined {
  const { items } = parseListReply(status, text, { kind: 'youtube#playlistListResponse', noun: 'playlists', context })
  if (items.length === 0) return undefined
  const [item] = items
  if (items.length > 1 || item?.id !== playlist || !isPlaylistId(item.id))
    throw createUnreadableReply('the response contained a playlist that was not requested')
  const { title, channelId, channelTitle } = item.snippet ?? {}
  const videos = item.contentDetails?.itemCount
  return {
    id: playlist,
    ...omitUndefined({
      title: toText(title),
      channelId: toText(channelId),
      channel: toText(channelTitle),
      videos: Number.isSafeInteger(videos) && videos >= 0 ? (videos as number) : undefined,
    }),
  }
}
