import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createUpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { CacheOptions, StatsCache } from './cache/stats-cache.ts'
import { openApiKeys } from './youtube/key-file.ts'
import type { VideoClient } from './youtube/video-client.ts'
import { CollectionsOwner, type Collections } from './campaigns/collections.ts'
import { createRemoteCollections, createRemoteReader } from './campaigns/collections-remote.ts'
import { DAY_MS } from './core/quota-budget.ts'
import { toUpstreamState, type UpstreamState } from './core/upstream-state.ts'
import { reportLogger } from './stats-metrics.ts'
import type { StatsLogger } from './logger/logger.ts'
import type { StatsSharedState, StatsMainMessage, StatsThreadMessage } from './messages.ts'
import { getClientOptions, getLoggerOptions, getRecorderOptions, getStateOptions } from './part-options.ts'
import { createStoredRows, Overview } from './campaigns/overview.ts'
import { parts, SHARED_STATES } from './parts.ts'
import { QuotaMeter } from './quota/quota-meter.ts'
import { registerCollectionRoutes } from './routes/collection-routes.ts'
import { registerHistoryRoutes } from './routes/history-routes.ts'
import { registerNodeRoute } from './routes/node-route.ts'
import { registerOverviewRoutes } from './routes/overview-routes.ts'
import { createStatsRoute } from './routes/stats-route.ts'
import { registerUpstreamRoute } from './routes/upstream-route.ts'
import { registerVideoRoutes } from './routes/video-routes.ts'
import { isStateOnMain, getSource, type StatsConfig } from './settings.ts'
import { createUpstreamReader, type UpstreamReader } from './refresh/upstream-reader.ts'
import { VideoDetailsRecorder } from './persist/video-details-recorder.ts'

type StatsAppContext = AppContext<StatsConfig, StatsMainMessage, StatsThreadMessage>

/** Close functions, run in the reverse order of opening. */
type Closers = (() => Promise<void>)[]

/** Builds the app of one serving thread from the parts that the configuration names. */
export async function createStatsApp(context: StatsAppContext): Promise<App> {
  const { config } = context
  const { share } = context.shared as StatsSharedState
  const closers: Closers = []
  const logger = await parts.logger[config.logger](getLoggerOptions(config))
  closers.push(() => logger.close())
  reportLogger(logger, context.registry)

  const { collections, overview, source } = await openCollections(context, closers)
  const { cache, upstream } = await openCache(context, collections, logger, closers)

  const app = await createApp(context, {
    title: 'Influencer Stats',
    description: 'Collections of videos and their summed YouTube statistics.',
    source,
    data: share && createDataHealth(share.memory),
    hotRoutes: [createStatsRoute(cache)],
  })
  app.addHook('onClose', async () => {
    for (const close of closers.toReversed()) await close()
  })
  registerCollectionRoutes(app, collections)
  registerOverviewRoutes(app, { collections, overview, cache })
  registerVideoRoutes(app, collections, cache)
  registerHistoryRoutes(app, collections, config.historyDays * DAY_MS)
  registerUpstreamRoute(app, upstream)
  if (config.log === 'jetstream') registerNodeRoute(app, () => context.bus.call('node'))
  return app
}

/** The collections and their overview, as this thread accesses them. */
interface CollectionParts {
  readonly collections: Collections
  readonly overview: Pick<Overview, 'getPage' | 'getRow'>
  /** Returns the origin of the numbers. */
  source(): string
}

async function openCollections(context: StatsAppContext, closers: Closers): Promise<CollectionParts> {
  const { config, bus, log } = context
  const { share } = context.shared as StatsSharedState
  const ownSource = getSource(config)
  const source = () => ownSource
  const open = () => parts.state[config.state](getStateOptions(context, share))
  if (!isStateOnMain(config)) {
    const owner = new CollectionsOwner({
      state: await open(),
      retention: config.historyDays * DAY_MS,
      onFault: (fault, what) => log.error(fault, what),
    })
    closers.push(() => owner.close())
    return { collections: owner, overview: new Overview(createStoredRows(owner, ownSource), owner), source }
  }
  const overview: CollectionParts['overview'] = {
    getPage: (query) => bus.call('overviewPage', query),
    getRow: (id, withChange) => bus.call('overviewOne', id, withChange),
  }
  if (!SHARED_STATES.includes(config.state))
    return { collections: createRemoteCollections(bus, createRemoteReader(bus)), overview, source }
  const reader = await open()
  closers.push(() => reader.close())
  return {
    collections: createRemoteCollections(bus, reader),
    overview,
    source: () => reader.getSource?.() ?? ownSource,
  }
}

/** A read through the main thread has this timeout in addition to `readTimeout`, the maximum wait for YouTube (ms). */
const MAIN_TIMEOUT_MS = 5_000

async function openCache(
  context: StatsAppContext,
  collections: Collections,
  logger: StatsLogger,
  closers: Closers,
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
