import { errors } from '../errors.ts'
import type { VideoNumbers } from '../core/numbers.ts'

/** The path and query that ask for the numbers of `ids`. */
export function videosPath(ids: readonly string[], key: string): string {
  return `/youtube/v3/videos?part=statistics&fields=kind,items(id,statistics)&id=${ids.join(',')}&key=${encodeURIComponent(key)}`
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

/**
 * Reads a reply of `videos.list`; a video that it does not mention, or whose item says nothing that can be read, is
 * simply not in the result.
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply, for anything that is not what the API gives, and where no
 * item at all can be read
 */
export function parseVideos(status: number, text: string): VideoNumbers[] {
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
  return found
}
