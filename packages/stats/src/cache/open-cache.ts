import type { AppContext } from '@influencer-stats/runtime/service'
import { createUpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { Collections } from '../campaigns/collections.ts'
import type { CampaignSource } from '../core/campaign.ts'
import type { SourceName } from '../core/follow/source-name.ts'
import { toUpstreamState, type UpstreamState } from '../core/upstream-state.ts'
import type { LookedUpVideos } from '../core/paste/preview.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { StatsMainMessage, StatsSharedState, StatsThreadMessage } from '../messages.ts'
import { openClient } from '../open-parts.ts'
import { parts } from '../parts.ts'
import type { ReportedTotals } from '../posts/reported-totals.ts'
import { QuotaMeter } from '../quota/quota-meter.ts'
import { createUpstreamReader, getCallResults, type UpstreamReader } from '../refresh/upstream-reader.ts'
import { SourceLookup } from '../refresh/side/source-lookup.ts'
import { VideoLookup } from '../refresh/video-lookup.ts'
import { getSource, isStateOnMain, type StatsConfig } from '../settings.ts'
import { UpstreamProblem } from '../youtube/upstream-problem.ts'
import type { CacheOptions, StatsCache } from './stats-cache.ts'

/** A read through the main thread has this timeout in addition to `readTimeout`, the maximum wait for YouTube (ms). */
const MAIN_TIMEOUT_MS = 5_000

/** The cache of a serving thread, and what else it knows of YouTube. */
export interface OpenedCache {
  readonly cache: StatsCache
  upstream(): UpstreamState | Promise<UpstreamState>
  /** Finds out which ids are videos: see `VideoLookup`. */
  lookUpVideos(ids: readonly string[]): Promise<LookedUpVideos>
  /** Finds a channel or a playlist: see `SourceLookup`. */
  findSource(source: SourceName): Promise<CampaignSource | undefined>
}

/**
 * Opens the cache of a serving thread.
 * @param reported sums of the posts of collections
 * @param resources gets the functions that close it
 */
export async function openCache(
  context: AppContext<StatsConfig, StatsMainMessage, StatsThreadMessage>,
  collections: Collections,
  reported: ReportedTotals,
  logger: StatsLogger,
  resources: AsyncDisposableStack,
): Promise<OpenedCache> {
  const { config, bus } = context
  const { meter: memory, replies } = context.shared as StatsSharedState
  // If the serving thread owns the state, the count is not saved: the state is in memory, and a killed process loses it.
  const save = isStateOnMain(config) ? () => bus.call('saveUsage') : undefined
  const meter = new QuotaMeter(memory, config.dailyBudget, { save })
  let opened: Awaited<ReturnType<typeof openClient>> | undefined
  let state: () => UpstreamState | Promise<UpstreamState> = () => bus.call('upstream')
  let lookUpVideos: OpenedCache['lookUpVideos'] = (ids) => bus.call('lookUpVideos', ids)
  let findSource: OpenedCache['findSource'] = (name) => bus.call('findSource', name)

  async function openUpstream(): Promise<CacheOptions> {
    const timer = createUpstreamTimer(context)
    const onKeyChange = () => upstream.circuit.onKeyChange()
    const { keys, client, recorder } = (opened = await openClient({
      config,
      collections,
      logger,
      meter,
      timer,
      onKeyChange,
    }))
    const { refreshInterval, cacheSize: size, readTimeout: timeout } = config
    const source = getSource(config)
    const upstream: UpstreamReader = createUpstreamReader({
      collections,
      client,
      recorder,
      meter,
      logger,
      source,
      reported,
      retryAfter: refreshInterval,
      interval: refreshInterval,
      timeout,
    })
    state = () => {
      const { remainingQuota, used, usedByKind } = meter
      const [key, now] = [keys.maskedKey, Date.now()]
      return toUpstreamState({
        ...getCallResults(upstream.circuit),
        remainingQuota,
        used,
        usedByKind,
        source,
        key,
        now,
      })
    }
    const canCall = () => upstream.circuit.pause === undefined
    const lookup = new VideoLookup({ caller: client.side, meter, logger, canCall })
    lookUpVideos = (ids) => lookup.find(ids)
    const getOutage = () => upstream.circuit.pause && new UpstreamProblem(upstream.circuit.pause.fault)
    const sourceLookup = new SourceLookup({ caller: client.side, meter, getOutage })
    findSource = (name) => sourceLookup.find(name)
    return { collections, upstream, logger, meter, reported, refreshInterval, size }
  }

  const published = { bus: bus.withTimeout(config.readTimeout + MAIN_TIMEOUT_MS), replies, meter }
  const cache = await parts.cache[config.cache]({ published, openUpstream })
  resources.defer(() => (opened ? opened.close(() => cache.close()) : cache.close()))
  return {
    cache,
    upstream: () => state(),
    lookUpVideos: (ids) => lookUpVideos(ids),
    findSource: (name) => findSource(name),
  }
}
