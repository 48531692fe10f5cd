import type { VideoNumbers } from '../core/numbers.ts'
import { toDetails, type VideoDetails } from '../core/video-details.ts'
import { parseErrorReply, type ReplyContext } from './error-reply.ts'
import { unreadableReply, UpstreamProblem } from './fault.ts'

const NUMBERS = 'part=statistics&fields=kind,items(id,statistics)'
const BOTH =
  'part=snippet,statistics&fields=kind,items(id,snippet(title,channelId,channelTitle,publishedAt),statistics)'

/** The path and query that ask for the numbers of `ids`, and for their details at no further cost. */
export function videosPath(ids: readonly string[], key: string, withDetails = false): string {
  return `/youtube/v3/videos?${withDetails ? BOTH : NUMBERS}&id=${ids.join(',')}&key=${encodeURIComponent(key)}`
}

const FIELDS = { viewCount: 'views', likeCount: 'likes', commentCount: 'comments', dislikeCount: 'dislikes' } as const

/** Counts are unsigned longs as strings. Undefined if it is no count, or a larger one than a number can hold exactly. */
function parseCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : undefined
  return Number.isSafeInteger(count) ? count : undefined
}

/** The counts that an item states; the owner hides the others. Undefined if one of them cannot be read. */
function parseItem({ id, statistics = {} }: { id: string; statistics?: any }): VideoNumbers | undefined {
  if (typeof statistics !== 'object' || statistics === null) return undefined
  const numbers: { id: string } & Record<string, unknown> = { id }
  for (const [field, name] of Object.entries(FIELDS)) {
    if (statistics[field] === undefined) continue
    numbers[name] = parseCount(statistics[field])
    if (numbers[name] === undefined) return undefined
  }
  return numbers
}

/** What the items of a reply say of `ids` besides numbers. */
export const detailsOf = (items: readonly any[], ids: readonly string[], asOf: number): VideoDetails[] =>
  items.filter((item) => ids.includes(item?.id)).map((item) => toDetails(item, asOf))

/** A reply of `videos.list`. It omits the videos that are neither found nor unreadable. */
export interface VideoList {
  readonly found: readonly VideoNumbers[]
  /** Those of which the reply has an item that cannot be read. */
  readonly unreadable: readonly string[]
  readonly items: readonly any[]
}

/**
 * Reads a reply of `videos.list`.
 * @param ids the requested ones
 * @param idsPerCall the ids of a full call: an empty reply to several ids that fill a call is a fault
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply, for anything that is not what the API gives, and where no
 * item at all can be read
 */
export function parseVideos(
  status: number,
  text: string,
  ids: readonly string[],
  idsPerCall: number,
  context: ReplyContext = {},
): VideoList {
  if (status !== 200) throw new UpstreamProblem(parseErrorReply(status, text, context))
  let reply: any
  try {
    reply = JSON.parse(text)
  } catch {
    throw unreadableReply('the reply was not JSON')
  }
  const items = reply?.items ?? (reply?.kind === 'youtube#videoListResponse' ? [] : undefined)
  if (!Array.isArray(items)) throw unreadableReply('the reply was not a list of videos')
  if (items.length === 0 && ids.length > 1 && ids.length >= idsPerCall)
    throw unreadableReply(`the reply had none of ${ids.length} videos`)
  const named = items.filter((item) => typeof item?.id === 'string')
  // A network fault that changes an id would otherwise pass for a video that YouTube omits.
  if (named.some(({ id }) => !ids.includes(id))) throw unreadableReply('the reply had a video that was not requested')
  const found = named.map(parseItem).filter((one) => one !== undefined)
  if (found.length === 0 && items.length > 0) throw unreadableReply('the reply had no video that could be read')
  const read = new Set(found.map(({ id }) => id))
  const suspects = named.length < items.length ? ids : named.map(({ id }) => id)
  return { found, unreadable: [...new Set(suspects)].filter((id) => !read.has(id)), items }
}
