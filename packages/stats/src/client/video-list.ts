import { errors } from '../errors.ts'
import type { VideoNumbers } from '../core/numbers.ts'

/** The path and query that ask for the numbers of `ids`. */
export function videosPath(ids: readonly string[], key: string): string {
  return `/youtube/v3/videos?part=statistics&fields=kind,items(id,statistics)&id=${ids.join(',')}&key=${encodeURIComponent(key)}`
}

const reasonOf = (reply: any): unknown => reply?.error?.errors?.[0]?.reason

/** Counts are unsigned longs as strings; absent where the owner hides them. */
function count(value: unknown): number {
  if (value === undefined) return 0
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw errors.UPSTREAM_UNAVAILABLE('a count was no number')
  return Number(value)
}

function toNumbers({ id, statistics }: any): VideoNumbers {
  if (typeof id !== 'string' || typeof statistics !== 'object' || statistics === null) {
    throw errors.UPSTREAM_UNAVAILABLE('a video came without its statistics')
  }
  const { viewCount, likeCount, commentCount, dislikeCount } = statistics
  const numbers = { id, views: count(viewCount), likes: count(likeCount), comments: count(commentCount) }
  return dislikeCount === undefined ? numbers : { ...numbers, dislikes: count(dislikeCount) }
}

/**
 * Reads a reply of `videos.list`; a video that it does not mention is simply not in the result.
 * @throws Problem `UPSTREAM_UNAVAILABLE` for an error reply and for anything that is not what the API gives
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
  return items.map(toNumbers)
}
