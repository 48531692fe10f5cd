import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createUpstreamTimer } from '@influencer-stats/runtime/upstream-timer'
import type { CacheOptions, StatsCache } from './cache/cache.ts'
import { openApiKeys } from './key-file.ts'
import type { VideoClient } from './client/client.ts'
import { CollectionsOwner, type Collections } from './collections.ts'
import { createRemoteCollections, createRemoteReader } from './collections-remote.ts'
import { DAY } from './core/pace.ts'
import { toUpstreamState, type UpstreamState } from './core/upstream-state.ts'
import { reportLogger } from './gauges.ts'
import type { Logger } from './logger/logger.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { clientOptions, loggerOptions, notesOptions, stateOptions } from './part-options.ts'
import { keptRows, Overview } from './overview.ts'
import { parts, SHARED_STATES } from './parts.ts'
import { QuotaMeter } from './quota-meter.ts'
import { collectionRoutes } from './routes/collections.ts'
import { historyRoutes } from './routes/history.ts'
import { nodeRoute } from './routes/node.ts'
import { overviewRoutes } from './routes/overview.ts'
import { statsRoute } from './routes/stats.ts'
import { upstreamRoute } from './routes/upstream.ts'
import { videoRoutes } from './routes/videos.ts'
import { mainOwnsState, sourceOf, type StatsConfig } from './settings.ts'
import { createUpstreamReader, type UpstreamReader } from './upstream-reader.ts'
import { Notebook } from './video-notes.ts'

type Context = AppContext<StatsConfig, ToMain, ToThread>

/** Closes what was opened, in the opposite order. */
type Closers = (() => Promise<void>)[]

/** Builds the app of one serving thread from the parts that the configuration names. */
export async function createStatsApp(context: Context): Promise<App> {
  const { config } = context
  const { share } = context.shared as Shared
  const closers: Closers = []
  const logger = await parts.logger[config.logger](loggerOptions(config))
  closers.push(() => logger.close())
  reportLogger(logger, context.registry)

  const { collections, overview, source } = await openCollections(context, closers)
  const { cache, upstream } = await openCache(context, collections, logger, closers)

  const app = await createApp(context, {
    title: 'Influencer Stats',
    description: 'Collections of videos and their summed YouTube statistics.',
    source,
    data: share && createDataHealth(share.memory),
    hotRoutes: [statsRoute(cache)],
  })
  app.addHook('onClose', async () => {
    for (const close of closers.toReversed()) await close()
  })
  collectionRoutes(app, collections)
  overviewRoutes(app, { collections, overview, cache })
  videoRoutes(app, collections, cache)
  historyRoutes(app, collections, config.historyDays * DAY)
  upstreamRoute(app, upstream)
  if (config.log === 'jetstream') nodeRoute(app, () => context.bus.call('node'))
  return app
}

/** The collections as this thread reaches them. */
interface Opened {
  readonly collections: Collections
  readonly overview: Pick<Overview, 'page' | 'one'>
  /** Returns the origin of the numbers. */
  source(): string
}

async function openCollections(context: Context, closers: Closers): Promise<Opened> {
  const { config, bus, log } = context
  const { share } = context.shared as Shared
  const own = sourceOf(config)
  const source = () => own
  const open = () => parts.state[config.state](stateOptions(context, share))
  if (!mainOwnsState(config)) {
    const owner = new CollectionsOwner({
      state: await open(),
      retention: config.historyDays * DAY,
      onFault: (fault, what) => log.error(fault, what),
    })
    closers.push(() => owner.close())
    return { collections: owner, overview: new Overview(keptRows(owner, own), owner), source }
  }
  const overview: Opened['overview'] = {
    page: (query) => bus.call('overviewPage', query),
    one: (id, withChange) => bus.call('overviewOne', id, withChange),
  }
  if (!SHARED_STATES.includes(config.state))
    return { collections: createRemoteCollections(bus, createRemoteReader(bus)), overview, source }
  const reader = await open()
  closers.push(() => reader.close())
  return {
    collections: createRemoteCollections(bus, reader),
    overview,
    source: () => reader.source?.() ?? own,
  }
}

/** What main may take besides waiting for YouTube (ms). */
const MAIN_TIMEOUT = 5_000

async function openCache(
  context: Context,
  collections: Collections,
  logger: Logger,
  closers: Closers,
): Promise<{ readonly cache: StatsCache; upstream(): UpstreamState | Promise<UpstreamState> }> {
  const { config, bus } = context
  const { meter: memory, replies } = context.shared as Shared
  // Where one thread owns the state, that is in its memory: a killed process has forgotten all of it.
  const save = mainOwnsState(config) ? () => bus.call('saveUsage') : undefined
  const meter = new QuotaMeter(memory, config.dailyBudget, { save })
  let client: VideoClient | undefined
  let notes: Notebook | undefined
  let state: () => UpstreamState | Promise<UpstreamState> = () => bus.call('upstream')

  async function openUpstream(): Promise<CacheOptions> {
    const { keys, close } = openApiKeys({ config, logger, onChange: () => upstream.keyChanged() })
    closers.push(async () => close())
    notes = new Notebook(notesOptions(collections, logger))
    client = await parts.client[config.client](
      clientOptions(config, { keys, meter, logger, notes, timer: createUpstreamTimer(context) }),
    )
    const { refreshInterval, cacheSize: size, readTimeout: deadline } = config
    const upstream: UpstreamReader = createUpstreamReader({
      collections,
      client,
      notes,
      meter,
      logger,
      source: sourceOf(config),
      retryAfter: refreshInterval,
      interval: refreshInterval,
      deadline,
    })
    state = () => {
      const { allowance, used } = meter
      const [key, now] = [keys.shown, Date.now()]
      return toUpstreamState({ ...upstream.upstream(), allowance, used, source: sourceOf(config), key, now })
    }
    return { collections, upstream, logger, meter, refreshInterval, size }
  }

  const published = { bus: bus.withTimeout(config.readTimeout + MAIN_TIMEOUT), replies, meter }
  const cache = await parts.cache[config.cache]({ published, openUpstream })
  closers.push(async () => {
    // The client first: a call under way ends now, not at its time-out.
    const closed = cache.close()
    await client?.close()
    await closed
    await notes?.close()
  })
  return { cache, upstream: () => state() }
}
