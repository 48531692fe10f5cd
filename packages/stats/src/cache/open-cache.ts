import type { AppContext } from '@influencer-stats/runtime/service'
import { createUpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { Collections } from '../campaigns/collections.ts'
import { toUpstreamState, type UpstreamState } from '../core/upstream-state.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { StatsMainMessage, StatsSharedState, StatsThreadMessage } from '../messages.ts'
import { getClientOptions, getRecorderOptions } from '../part-options.ts'
import { parts } from '../parts.ts'
import { VideoDetailsRecorder } from '../persist/video-details-recorder.ts'
import { QuotaMeter } from '../quota/quota-meter.ts'
import { createUpstreamReader, type UpstreamReader } from '../refresh/upstream-reader.ts'
import { getSource, isStateOnMain, type StatsConfig } from '../settings.ts'
import { openApiKeys } from '../youtube/key-file.ts'
import type { VideoClient } from '../youtube/video-client.ts'
import type { CacheOptions, StatsCache } from './stats-cache.ts'

/** A read through the main thread has this timeout in addition to `readTimeout`, the maximum wait for YouTube (ms). */
const MAIN_TIMEOUT_MS = 5_000

/**
 * Opens the cache of a serving thread.
 * @param closers gets the functions that close it
 */
export async function openCache(
  context: AppContext<StatsConfig, StatsMainMessage, StatsThreadMessage>,
  collections: Collections,
  logger: StatsLogger,
  closers: (() => Promise<void>)[],
): Promise<{ readonly cache: StatsCache; upstream(): UpstreamState | Promise<UpstreamState> }> {
  const { config, bus } = context
  const { meter: memory, replies } = context.shared as StatsSharedState
  // If the serving thread owns the state, the count is not saved: the state is in memory, and a killed process loses it.
  const save = isStateOnMain(config) ? () => bus.call('saveUsage') : undefined
  const meter = new QuotaMeter(memory, config.dailyBudget, { save })
  let client: VideoClient | undefined
  let recorder: VideoDetailsRecorder | undefined
  let state: () => UpstreamState | Promise<UpstreamState> = () => bus.call('upstream')

  async function openUpstream(): Promise<CacheOptions> {
    const { keys, close } = openApiKeys({ config, logger, onChange: () => upstream.onKeyChange() })
    closers.push(async () => close())
    recorder = new VideoDetailsRecorder(getRecorderOptions(collections, logger))
    client = await parts.client[config.client](
      getClientOptions(config, { keys, meter, logger, recorder, timer: createUpstreamTimer(context) }),
    )
    const { refreshInterval, cacheSize: size, readTimeout: timeout } = config
    const upstream: UpstreamReader = createUpstreamReader({
      collections,
      client,
      recorder,
      meter,
      logger,
      source: getSource(config),
      retryAfter: refreshInterval,
      interval: refreshInterval,
      timeout,
    })
    state = () => {
      const { remainingQuota, used } = meter
      const [key, now] = [keys.maskedKey, Date.now()]
      return toUpstreamState({
        ...upstream.getCallResults(),
        remainingQuota,
        used,
        source: getSource(config),
        key,
        now,
      })
    }
    return { collections, upstream, logger, meter, refreshInterval, size }
  }

  const published = { bus: bus.withTimeout(config.readTimeout + MAIN_TIMEOUT_MS), replies, meter }
  const cache = await parts.cache[config.cache]({ published, openUpstream })
  closers.push(async () => {
    // `cache.close` waits for the calls in flight. `client.close` ends these calls at once, so they need not reach their
    // timeouts.
    const closed = cache.close()
    await client?.close()
    await closed
    await recorder?.close()
  })
  return { cache, upstream: () => state() }
}
