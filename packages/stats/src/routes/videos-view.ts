import type { StatsCache } from '../cache/stats-cache.ts'
import type { Collections } from '../campaigns/collections.ts'
import type { Reported } from '../core/posts/reported.ts'
import { isShort, type VideoDetails } from '../core/video-details.ts'
import type { CountName, VideoNumbers } from '../core/video-numbers.ts'
import { isStale, summarize, toByVideo, type Summary } from '../core/prepared-reply.ts'
import { toVideoUrl } from '../core/video-links.ts'
import type { Collection } from '../state/stats-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'

/** A video of a collection, as in replies. Without numbers it is `missing`, or no request for it has succeeded yet. */
export interface VideoResource extends Omit<VideoDetails, 'asOf'>, Pick<VideoNumbers, CountName | 'hidden'> {
  readonly url: string
  /** True for a video of up to 60 s: see `isShort`. */
  readonly isShort?: true
  readonly hiddenSince?: string
  readonly gone?: { readonly since: string; readonly asOf: string }
  readonly missing?: true
}

export interface VideosView {
  readonly collection: Collection
  readonly stats: Summary & {
    readonly stale: boolean
    readonly source: string | undefined
    readonly reported: Reported | undefined
  }
  /** In the order of the collection. */
  readonly videos: readonly VideoResource[]
}

/**
 * Returns the videos of a collection with the numbers of `GET .../stats?by=video` and their details; undefined if there
 * is no such collection.
 * @throws the same problems as `StatsCache.readNumbers`
 */
export async function readVideosView(
  id: string,
  { state }: Collections,
  cache: Pick<StatsCache, 'readNumbers' | 'getStaleAfter'>,
): Promise<VideosView | undefined> {
  const reading = await cache.readNumbers(id)
  const collection = reading && (await state.get(id))
  if (!collection) return undefined
  const { snapshot, source, reported } = reading
  const stale = isStale(reading, steadyNow(), cache.getStaleAfter())
  const details = await state.getVideos(collection.videos)
  const numbers = new Map(snapshot.videos.map((video) => [video.id, toByVideo(video)]))
  const missing = new Set(snapshot.missing)
  const videos = collection.videos.map((video, i) => {
    const { asOf: _asOf, ...known } = details[i] ?? {}
    return {
      ...known,
      id: video,
      url: toVideoUrl(video),
      ...(isShort(known) && { isShort: true as const }),
      ...numbers.get(video),
      ...(missing.has(video) && { missing: true as const }),
    }
  })
  return { collection, stats: { ...summarize(snapshot), stale, source, reported }, videos }
}
