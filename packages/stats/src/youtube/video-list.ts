import type { VideoNumbers } from '../core/video-numbers.ts'
import { toDetails, type VideoDetails } from '../core/video-details.ts'
import type { ReplyContext } from './error-reply.ts'
import { parseCount, parseListReply } from './list-reply.ts'
import { createUnreadableReply } from './upstream-problem.ts'

// By default Google indents its JSON: a reply of one video then has 278 bytes and not 182, one of 50 has 11.5 KB and not
// 7.3 KB.
const NUMBERS_QUERY = 'part=statistics&fields=kind,items(id,statistics)&prettyPrint=false'
const DETAILS_QUERY =
  'part=snippet,contentDetails,statistics&fields=kind,items(id,snippet(title,channelId,channelTitle,publishedAt,' +
  'liveBroadcastContent),contentDetails(duration),statistics)&prettyPrint=false'

/** Returns the path and query of a request for the numbers of `ids`, and on request for their details at no cost. */
export function buildVideosPath(ids: readonly string[], key: string, withDetails = false): string {
  return `/youtube/v3/videos?${withDetails ? DETAILS_QUERY : NUMBERS_QUERY}&id=${ids.join(',')}&key=${encodeURIComponent(key)}`
}

/**
 * Returns the id and the counts that an item states. Undefined if the item has no id, or an unreadable count.
 * @throws Problem `UPSTREAM_UNAVAILABLE` if the video was not requested
 */
function parseItem(item: any, ids: readonly string[]): VideoNumbers | undefined {
  const id: unknown = item?.id
  if (typeof id !== 'string') return undefined
  // A network fault that changes an id would otherwise pass for a video that YouTube omits.
  if (!ids.includes(id)) throw createUnreadableReply('the response contained a video that was not requested')
  const { statistics = {} } = item
  if (typeof statistics !== 'object' || statistics === null) return undefined
  const views = parseCount(statistics.viewCount)
  const likes = parseCount(statistics.likeCount)
  const comments = parseCount(statistics.commentCount)
  const dislikes = parseCount(statistics.dislikeCount)
  if ([views, likes, comments, dislikes].includes(NaN)) return undefined
  return { id, views, likes, comments, dislikes }
}

/** Returns the details of `ids` in the items of a reply. */
export const parseDetails = (items: readonly any[], ids: readonly string[], asOf: number): VideoDetails[] =>
  items.filter((item) => ids.includes(item?.id)).map((item) => toDetails(item, asOf))

/** A parsed reply of `videos.list`. Requested videos in neither list were omitted by YouTube. */
export interface VideoList {
  readonly found: readonly VideoNumbers[]
  /** Ids whose items in the reply are unreadable. */
  readonly unreadable: readonly string[]
  /** All items as YouTube returned them. */
  readonly items: readonly any[]
}

/**
 * Parses a reply of `videos.list`.
 * @param ids the requested ids
 * @param idsPerCall maximum number of ids per call: an empty reply to a full call of several ids is a fault
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply, for content that the API never returns, and if no item is
 * readable
 */
export function parseVideos(
  status: number,
  text: string,
  ids: readonly string[],
  idsPerCall: number,
  context: ReplyContext = {},
): VideoList {
  const { items } = parseListReply(status, text, { kind: 'youtube#videoListResponse', noun: 'videos', context })
  if (items.length === 0 && ids.length > 1 && ids.length >= idsPerCall)
    throw createUnreadableReply(`the response contained none of ${ids.length} videos`)
  const numbers = items.map((item) => parseItem(item, ids))
  if (!numbers.includes(undefined)) return { found: numbers as VideoNumbers[], unreadable: [], items }
  const found = numbers.filter((one) => one !== undefined)
  if (found.length === 0) throw createUnreadableReply('the response contained no readable video')
  const read = new Set(found.map(({ id }) => id))
  const suspects = items.filter((_, i) => !numbers[i]).map((item) => item?.id)
  // An item without an id may belong to any of the requested videos.
  const isIdentified = suspects.every((id) => typeof id === 'string')
  return { found, unreadable: [...new Set<string>(isIdentified ? suspects : ids)].filter((id) => !read.has(id)), items }
}
