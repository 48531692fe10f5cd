import type { CacheSources, StatsCache } from './cache/stats-cache.ts'
import type { VideoClientOptions, VideoClient } from './youtube/video-client.ts'
import type { StatsLogger, LoggerOptions } from './logger/logger.ts'
import type { StatsState, StateOptions } from './state/stats-state.ts'

/** Creates a part. Its module is loaded only when the part is selected. */
type StatsPartFactory<Options, Part> = (options: Options) => Promise<Part>
type StatsPartTable<Options, Part> = Readonly<Record<string, StatsPartFactory<Options, Part>>>

/** All alternatives: part -> name of the alternative -> function that loads and creates it. */
export const parts = {
  logger: {
    console: async (options) => (await import('./logger/console.ts')).createConsoleLogger(options),
    dropping: async (options) => (await import('./logger/dropping.ts')).createDroppingLogger(options),
    pino: async (options) => (await import('./logger/pino.ts')).createPinoLogger(options),
    'pino-worker': async (options) => (await import('./logger/pino.ts')).createPinoWorkerLogger(options),
    silent: async () => (await import('./logger/silent.ts')).createSilentLogger(),
  } satisfies StatsPartTable<LoggerOptions, StatsLogger>,

  client: {
    fetch: async (options) => (await import('./youtube/fetch.ts')).createFetchClient(options),
    'undici-pool': async (options) => (await import('./youtube/undici-pool.ts')).createUndiciPoolClient(options),
    'node-http': async (options) => (await import('./youtube/node-http.ts')).createNodeHttpClient(options),
    batching: async (options) => (await import('./youtube/batching.ts')).createBatchingClient(options),
  } satisfies StatsPartTable<VideoClientOptions, VideoClient>,

  state: {
    list: async () => (await import('./state/list-state.ts')).createListState(),
    map: async () => (await import('./state/map-state.ts')).createMapState(),
    level: async (options) => (await import('./state/level-state.ts')).createLevelState(options),
    kv: async (options) => (await import('./state/kv-state.ts')).createKvState(options),
  } satisfies StatsPartTable<StateOptions, StatsState>,

  cache: {
    none: async ({ openUpstream }) => (await import('./cache/none.ts')).createNoCache(await openUpstream()),
    refresh: async ({ openUpstream }) => (await import('./cache/refresh.ts')).createRefreshCache(await openUpstream()),
    lru: async ({ openUpstream }) => (await import('./cache/lru.ts')).createLruCache(await openUpstream()),
    /** The main thread calls YouTube (`poller.ts`), and publishes the replies to every thread. */
    poller: async ({ published }) => (await import('./cache/published.ts')).createPublishedCache(published),
  } satisfies StatsPartTable<CacheSources, StatsCache>,
} as const

/** States that every thread reads itself. The other states exist on one thread only. */
export const SHARED_STATES: readonly string[] = ['level', 'kv']

/** Returns the names of a part's alternatives. */
export const getPartNames = <Part extends keyof typeof parts>(part: Part) =>
  Object.keys(parts[part]) as (keyof (typeof parts)[Part] & string)[]
