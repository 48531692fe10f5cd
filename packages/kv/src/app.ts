import { createLogClock, viewFolder } from '@influencer-stats/log/log-state'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { dataHealth } from '@influencer-stats/runtime/level-health'
import type { AppContext } from '@influencer-stats/runtime/service'
import { parseQuery } from './core/query.ts'
import { countLost, groupSizes, reportQueue, reportWatchers } from './gauges.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { parts } from './parts.ts'
import { batchRoutes } from './routes/batch.ts'
import { entitiesRoutes } from './routes/entities.ts'
import { expiryRoutes } from './routes/expiry.ts'
import { entityRoutes } from './routes/entity.ts'
import { getManyRoute } from './routes/get-many.ts'
import { watchRoute } from './routes/watch.ts'
import type { KvConfig } from './settings.ts'
import type { Store } from './store/store.ts'
import { createRecorder } from './watch/recorder.ts'
import { Watchers } from './watch/watchers.ts'

type Context = AppContext<KvConfig, ToMain, ToThread>

/** Builds the app of one serving thread. */
export async function createKvApp({ config, shared, registry, bus, ...context }: Context): Promise<App> {
  const { share, revisions, recording, expiring, stripes, logState } = shared as Shared
  const options = {
    folder: config.data,
    cacheMegabytes: config.cacheMegabytes,
    maxBytes: config.queueBytes,
    maxWrites: config.queueWrites,
    timeout: config.queueTimeout,
    budget: context.budget,
    share,
    log: context.log,
    onCommit: groupSizes(registry),
    onLost: countLost(registry),
  }
  const store: Store = logState
    ? await parts.replica.jetstream({
        ...options,
        folder: viewFolder(config.data),
        expiring,
        line: {
          state: logState,
          now: createLogClock(logState),
          append: (...writes) => bus.call('append', ...writes),
          reached: (sequence) => bus.call('reached', sequence),
          barrier: (waiting) => bus.call('barrier', waiting),
        },
      })
    : await parts.store[config.store]({
        ...options,
        createCommit: parts.commit[config.commit],
        revisions: { memory: revisions, reserve: () => bus.call('reserve') },
        stripes,
        expiring,
        recorder: createRecorder(recording!, {
          wrote: (...written) => bus.call('wrote', ...written),
          lost: () => bus.call('lost'),
        }),
      })
  bus.on('settled', () => store.settled?.())
  const watchers = new Watchers({
    changes: (...query) => bus.call('changes', ...query),
    budget: context.budget,
    isCopied: context.certificate !== undefined,
    most: config.maxWatchers,
    buffer: config.watchBuffer,
    sendTimeout: config.sendTimeout,
    heartbeat: config.watchHeartbeat,
  })
  reportWatchers(watchers, registry)
  if (store.queue) reportQueue(store.queue, registry)

  const app = await createApp(
    { config, registry, ...context },
    {
      title: 'Key-value service',
      description: 'Bytes under keys: durable, ordered, conditional.',
      data: share && dataHealth(share.memory),
      querystringParser: parseQuery as never,
      hotRoutes: [...entityRoutes(store, config.valueLimit), watchRoute(store, watchers)],
    },
  )
  context.lifecycle.drain.addEventListener('abort', () => watchers.close(), { once: true })
  app.addHook('onClose', async () => {
    watchers.close()
    await store.close()
  })
  expiryRoutes(app, store)
  entitiesRoutes(app, store, context.budget, config.sendTimeout)
  await getManyRoute(app, store, context.budget, config.sendTimeout)
  batchRoutes(app, store, context.budget, config)
  return app
}
