import { errors } from '../errors.ts'
import type { VideoNumbers } from '../core/numbers.ts'
import { toDetails, type VideoDetails } from '../core/video-details.ts'

const NUMBERS = 'part=statistics&fields=kind,items(id,statistics)'
const BOTH =
  'part=snippet,statistics&fields=kind,items(id,snippet(title,channelId,channelTitle,publishedAt),statistics)'

/** The path and query that ask for the numbers of `ids`, and for their details at no further cost. */
export function videosPath(ids: readonly string[], key: string, withDetails = false): string {
  return `/youtube/v3/videos?${withDetails ? BOTH : NUMBERS}&id=${ids.join(',')}&key=${encodeURIComponent(key)}`
}

const reasonOf = (reply: any): unknown => reply?.error?.errors?.[0]?.reason

/** Counts are unsigned longs as strings; absent where the owner hides them. Nothing if it is no count. */
function count(value: unknown): number | undefined {
  if (value === undefined) return 0
  return typeof value === 'string' && /^\d{1,20}$/.test(value) ? Number(value) : undefined
}

function toNumbers(item: any): VideoNumbers | undefined {
  const statistics = item?.statistics
  if (typeof item?.id !== 'string' || typeof statistics !== 'object' || statistics === null) return undefined
  const { viewCount, likeCount, commentCount, dislikeCount } = statistics
  const [views, likes, comments, dislikes] = [viewCount, likeCount, commentCount, dislikeCount].map(count)
  if (views === undefined || likes === undefined || comments === undefined || dislikes === undefined) return undefined
  const numbers = { id: item.id, views, likes, comments }
  return dislikeCount === undefined ? numbers : { ...numbers, dislikes }
}

/** A video that YouTube knows and has no numbers of: not nonsense, and to us the same as one it does not return. */
const lacksStatistics = (item: any) => typeof item?.id === 'string' && item.statistics === undefined

/** What the items of a reply say of `ids` besides numbers. */
export const detailsOf = (items: readonly any[], ids: readonly string[], asOf: number): VideoDetails[] =>
  items.filter((item) => ids.includes(item?.id)).map((item) => toDetails(item, asOf))

/**
 * Reads a reply of `videos.list`; a video that it does not mention, or whose item says nothing that can be read, is
 * simply not in the result.
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply, for anything that is not what the API gives, and where no
 * item at all can be read
 */
export function parseVideos(status: number, text: string): { found: VideoNumbers[]; items: readonly any[] } {
  let reply: any
  try {
    reply = JSON.parse(text)
  } catch {
    throw errors.UPSTREAM_UNAVAILABLE(`the reply (status ${status}) was not JSON`)
  }
  if (status !== 200) {
    const reason = /^\w{1,64}$/.exec(String(reasonOf(reply)))?.[0] ?? 'no reason given'
    throw errors.UPSTREAM_UNAVAILABLE(`YouTube answered ${status} (${reason})`)
  }
  const items = reply?.items ?? (reply?.kind === 'youtube#videoListResponse' ? [] : undefined)
  if (!Array.isArray(items)) throw errors.UPSTREAM_UNAVAILABLE('the reply was not a list of videos')
  const found = items.map(toNumbers).filter((one) => one !== undefined)
  if (found.length === 0 && items.length > 0 && !items.every(lacksStatistics)) {
    throw errors.UPSTREAM_UNAVAILABLE('the reply had no video that could be read')
  }
  return { found, items }
}
