import type { StatsCache } from './cache/cache.ts'
import type { Collections } from './collections.ts'
import type { Count, Totals } from './core/numbers.ts'
import { asItReads, type Summary } from './core/prepared.ts'
import { linkTo } from './core/video-links.ts'
import type { Collection } from './state/state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'

/** A video of a collection, as replies tell it. Without numbers it is missing, or nothing is known of it yet. */
export interface ToldVideo {
  readonly id: string
  readonly url: string
  readonly title?: string
  readonly channel?: string
  readonly channelId?: string
  readonly publishedAt?: string
  readonly views?: number
  readonly likes?: number
  readonly comments?: number
  readonly dislikes?: number
  /** Names of the counts that YouTube does not state. Their values are the last known ones, if any. */
  readonly hidden?: readonly Count[]
  readonly hiddenSince?: string
  readonly gone?: { readonly since: string; readonly asOf: string }
  readonly missing?: true
}

export interface ToldVideos {
  readonly collection: Collection
  readonly stats: Summary & { readonly stale: boolean }
  /** In the collection's order. */
  readonly videos: readonly ToldVideo[]
}

type Reply = Totals & Summary & { stale: boolean; byVideo: { id: string }[] }

/**
 * The videos of a collection with their numbers, which are those of `GET .../stats?by=video`, and what else is known of
 * them; nothing if there is no such collection.
 * @throws Problem as that read
 */
export async function videosOf(
  id: string,
  collections: Pick<Collections, 'get' | 'videos'>,
  cache: Pick<StatsCache, 'readByVideo' | 'staleAfter'>,
): Promise<ToldVideos | undefined> {
  const prepared = await cache.readByVideo(id)
  const collection = prepared && (await collections.get(id))
  if (!collection) return undefined
  const { byVideo, ...stats }: Reply = JSON.parse(asItReads(prepared, steadyNow(), cache.staleAfter()).body)
  const details = await collections.videos(collection.videos)
  const numbers = new Map(byVideo.map((video) => [video.id, video]))
  const missing = new Set(stats.missing)
  const videos = collection.videos.map((video, i) => {
    const { asOf: _asOf, ...known } = details[i] ?? {}
    return {
      ...known,
      id: video,
      url: linkTo(video),
      ...numbers.get(video),
      ...(missing.has(video) && { missing: true as const }),
    }
  })
  return { collection, stats, videos }
}
