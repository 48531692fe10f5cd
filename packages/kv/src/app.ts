import { createApp, type App } from '@influencer-stats/runtime/http'
import type { AppContext } from '@influencer-stats/runtime/service'
import { parseQuery } from './core/query.ts'
import { groupSizes, reportQueue } from './gauges.ts'
import type { Shared, ToMain } from './messages.ts'
import { parts } from './parts.ts'
import { batchRoutes } from './routes/batch.ts'
import { entitiesRoutes } from './routes/entities.ts'
import { entityRoutes } from './routes/entity.ts'
import type { KvConfig } from './settings.ts'
import type { Store } from './store/store.ts'

type Context = AppContext<KvConfig, ToMain, Record<never, never>>

/** Builds the app of one serving thread. */
export async function createKvApp({ config, shared, registry, bus, ...context }: Context): Promise<App> {
  const { share, revisions, stripes } = shared as Shared
  const store: Store = await parts.store[config.store]({
    folder: config.data,
    cacheMegabytes: config.cacheMegabytes,
    createCommit: parts.commit[config.commit],
    maxBytes: config.queueBytes,
    maxWrites: config.queueWrites,
    timeout: config.queueTimeout,
    share,
    log: context.log,
    revisions: { memory: revisions, reserve: () => bus.call('reserve') },
    stripes,
    onCommit: groupSizes(registry),
  })
  if (store.queue) reportQueue(store.queue, registry)

  const app = await createApp(
    { config, registry, ...context },
    {
      title: 'Key-value service',
      description: 'Bytes under keys: durable, ordered, conditional.',
      fault: () => store.fault?.(),
      querystringParser: parseQuery as never,
      hotRoutes: entityRoutes(store, config.valueLimit),
    },
  )
  app.addHook('onClose', () => store.close())
  entitiesRoutes(app, store, config.sendTimeout)
  batchRoutes(app, store, context.budget, config)
  return app
}
