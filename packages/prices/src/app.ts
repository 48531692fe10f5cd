import { createApp, type App } from '@influencer-stats/runtime/http'
import { faultIn } from '@influencer-stats/runtime/level-health'
import { FAULTS } from '@influencer-stats/runtime/metrics'
import type { Counter } from '@influencer-stats/runtime/prom-client'
import type { AppContext } from '@influencer-stats/runtime/service'
import { createBlockStore } from './block-store.ts'
import type { BlockStore, Catalog } from './catalog/catalog.ts'
import { openPricesLevel } from './database.ts'
import { errors } from './errors.ts'
import { loadIndexes } from './load-indexes.ts'
import type { Shared, State, ToMain, ToThread } from './messages.ts'
import { BITMAP, parts, SHARED_CATALOGS } from './parts.ts'
import { priceRoutes } from './routes/prices.ts'
import { bulkRoute, searchRoute } from './routes/search.ts'
import { CATALOG_TIMEOUT, type PricesConfig } from './settings.ts'
import { createView, type View, type Views } from './view.ts'

type Context = AppContext<PricesConfig, ToMain, ToThread>

/** Builds the app of one serving thread. */
export async function createPricesApp(context: Context): Promise<App> {
  const { config, bus, log, registry } = context
  const kinds = await loadIndexes(config)
  const { state: first, share } = context.shared as Shared
  const level = SHARED_CATALOGS.includes(config.catalog)
    ? undefined
    : await openPricesLevel(config.data, { share, log })

  async function open(state: State): Promise<View> {
    // After a fault main's word may come before the database is open again.
    await level?.opened()
    const store: BlockStore = level ? createBlockStore(level.db, state.generation) : NO_STORE
    const { cacheBytes } = config
    const catalog: Catalog = await parts.catalog[config.catalog]({ blocks: state.blocks, store, cacheBytes })
    const indexes = new Map(
      Array.from(kinds, ([name, kind]) => [name, kind.read(state.segments.get(name) ?? new Map())]),
    )
    return createView(state, { live: state.live, catalog, indexes })
  }

  let view = await open(first)
  function become(next: View): void {
    const old = view
    view = next
    old.release().catch((error: unknown) => log.error({ err: error }, 'an old view could not be closed'))
  }
  bus.on('change', (change) => become(view.with(change)))
  bus.on('replace', async (state) => become(await open(state)))

  const views: Views = {
    current: () => view,
    indexOf(of, name) {
      const index = of.indexes.get(name === 'bitmap' ? BITMAP : name)
      if (!index) throw errors.INDEX_NOT_LOADED(`${name}; there are ${[...of.indexes.keys()].join(', ')}`)
      return index
    },
  }

  const names = ['bitmap', ...kinds.keys()]
  const app = await createApp(context, {
    title: 'Prices',
    description: 'Finds the one price that fits.',
    fault: () => faultIn(share.memory),
    hotRoutes: [searchRoute(views, names, config.bodyLimit)],
  })
  app.addHook('onClose', async () => {
    await view.release()
    await level?.close()
  })
  const faults = registry.getSingleMetric(FAULTS) as Counter
  await bulkRoute(app, views, { log, faults }, config.sendTimeout)
  await priceRoutes(app, bus.within(CATALOG_TIMEOUT))
  return app
}

const NO_STORE: BlockStore = {
  read() {
    throw new Error('this catalog reads no store')
  },
  renew: () => NO_STORE,
  async close() {},
}
