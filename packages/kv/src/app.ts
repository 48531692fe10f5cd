import { createLogClock, createWriteReadiness, toReplicaFolder } from '@influencer-stats/log/log-state'
import { registerNodeRoute } from '@influencer-stats/log/node-route'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import type { Calls } from '@influencer-stats/runtime/channel'
import type { AppContext } from '@influencer-stats/runtime/service'
import { parseQuery } from './core/parse-query.ts'
import { registerLostWrites, registerGroupSizes, registerQueueMetrics, registerWatchMetrics } from './kv-metrics.ts'
import type {
  KvClusterMessage,
  KvClusterState,
  KvLevelMessage,
  KvMainMessage,
  KvStandaloneState,
  KvThreadMessage,
} from './messages.ts'
import { parts } from './parts.ts'
import { registerBatchRoutes } from './routes/batch-routes.ts'
import { registerRangeRoutes } from './routes/range-routes.ts'
import { registerExpiryRoutes } from './routes/expiry-routes.ts'
import { createEntityRoutes } from './routes/entity-routes.ts'
import { registerGetManyRoute } from './routes/get-many-route.ts'
import { registerStopRoute } from './routes/stop-route.ts'
import { createWatchRoute } from './routes/watch-route.ts'
import type { KvConfig } from './settings.ts'
import type { ReplicatedStoreOptions } from './cluster/replicated-store.ts'
import type { LevelStoreOptions } from './store/level-store.ts'
import type { KvStore } from './store/store.ts'
import { createWriteRecorder } from './watch/write-recorder.ts'
import { Watchers } from './watch/watchers.ts'

type KvAppContext<Message extends Calls = KvMainMessage> = AppContext<KvConfig, Message, KvThreadMessage>

/** Builds the app of one serving thread. */
export async function createKvApp({ config, shared, registry, bus, ...context }: KvAppContext): Promise<App> {
  const state = shared as KvStandaloneState | KvClusterState
  const options = {
    folder: config.data,
    cacheMegabytes: config.cacheMegabytes,
    maxBytes: config.queueBytes,
    maxWrites: config.queueWrites,
    timeout: config.queueTimeout,
    budget: context.budget,
    share: state.share,
    log: context.log,
    onCommit: registerGroupSizes(registry),
    onLostWrite: registerLostWrites(registry),
  }
  const store: KvStore =
    'logState' in state
      ? await openReplicatedStore(options, state, bus as KvAppContext<KvClusterMessage>['bus'])
      : await openStandaloneStore(options, state, bus as KvAppContext<KvLevelMessage>['bus'], config)
  const watchers = new Watchers({
    changes: (...query) => bus.call('changes', ...query),
    budget: context.budget,
    isCopied: context.certificate !== undefined,
    maxStreams: config.maxWatchers,
    maxUnreadBytes: config.watchBuffer,
    sendTimeout: config.sendTimeout,
    heartbeat: config.watchHeartbeat,
  })
  registerWatchMetrics(watchers, registry)
  if (store.queue) registerQueueMetrics(store.queue, registry)

  const app = await createApp(
    { config, registry, ...context },
    {
      title: 'Key-value service',
      description: 'Key-value store: durable, ordered, with conditional writes.',
      data: state.share && createDataHealth(state.share.memory),
      writes: 'logState' in state ? createWriteReadiness(state.logState) : undefined,
      querystringParser: parseQuery as never,
      hotRoutes: [...createEntityRoutes(store, config.valueLimit), createWatchRoute(store, watchers)],
    },
  )
  context.lifecycle.drain.addEventListener('abort', () => watchers.close(), { once: true })
  app.addHook('onClose', async () => {
    watchers.close()
    await store.close()
  })
  registerNodeRoute(app, 'logState' in state ? state.logState : undefined)
  registerExpiryRoutes(app, store)
  registerRangeRoutes(app, store, context.budget, config.sendTimeout)
  await registerGetManyRoute(app, store, context.budget, config.sendTimeout)
  const levelBus = bus as KvAppContext<KvLevelMessage>['bus']
  const canStop = state.share !== undefined && !('logState' in state)
  registerStopRoute(app, canStop ? (isStopped) => levelBus.call('setStopped', isStopped) : undefined)
  registerBatchRoutes(app, store, context.budget, config)
  return app
}

type CommonStoreOptions = Omit<
  LevelStoreOptions & ReplicatedStoreOptions,
  'createCommit' | 'revisions' | 'keyLocks' | 'ttl' | 'ttlMemory' | 'recorder' | 'channel'
>

async function openStandaloneStore(
  options: CommonStoreOptions,
  { revisions, recording, ttlMemory, stripes }: KvStandaloneState,
  bus: KvAppContext<KvLevelMessage>['bus'],
  { store: name, commit }: KvConfig,
): Promise<KvStore> {
  const store: KvStore = await parts.store[name]({
    ...options,
    createCommit: parts.commit[commit],
    revisions: { memory: revisions, reserve: () => bus.call('reserve') },
    keyLocks: stripes,
    ttl: ttlMemory,
    recorder: createWriteRecorder(recording, {
      recordWrites: (...written) => bus.call('recordWrites', ...written),
      recordLost: () => bus.call('recordLost'),
    }),
  })
  bus.on('waitUntilSettled', () => store.waitUntilSettled?.())
  return store
}

async function openReplicatedStore(
  options: CommonStoreOptions,
  { ttlMemory, logState }: KvClusterState,
  bus: KvAppContext<KvClusterMessage>['bus'],
): Promise<KvStore> {
  // `batchPerTurn` has collected the writes and the barriers of a turn, so they are sent at once.
  function sendNow<T>(call: Promise<T>): Promise<T> {
    bus.flush()
    return call
  }
  const { createReplicatedStore } = await import('./cluster/replicated-store.ts')
  return createReplicatedStore({
    ...options,
    folder: toReplicaFolder(options.folder),
    ttlMemory,
    channel: {
      state: logState,
      now: createLogClock(logState),
      append: (...writes) => sendNow(bus.call('append', ...writes)),
      waitForSequence: (sequence) => bus.call('waitForSequence', sequence),
      barrier: (waiters) => sendNow(bus.call('barrier', waiters)),
    },
  })
}
