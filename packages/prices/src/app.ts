import { viewFolder } from '@influencer-stats/log/log-state'
import { createReplica } from '@influencer-stats/log/replica'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { dataHealth } from '@influencer-stats/runtime/level-health'
import { FAULTS } from '@influencer-stats/runtime/metrics'
import type { Counter } from '@influencer-stats/runtime/prom-client'
import type { AppContext } from '@influencer-stats/runtime/service'
import type { Catalog, PageStore } from './catalog/catalog.ts'
import { openPricesLevel } from './database.ts'
import { errors } from './errors.ts'
import { unpackChanges } from './index/row-changes.ts'
import { bitmapOf, loadIndexes } from './load-indexes.ts'
import type { Shared, State, ToMain, ToThread } from './messages.ts'
import { createPageStore } from './page-store.ts'
import { BITMAP, parts, SHARED_CATALOGS } from './parts.ts'
import { facetRoutes } from './routes/facets.ts'
import { priceRoutes } from './routes/prices.ts'
import { groupPuts } from './put-groups.ts'
import { putRoute } from './routes/put-price.ts'
import { bulkRoute, searchRoute } from './routes/search.ts'
import { CATALOG_TIMEOUT, type PricesConfig } from './settings.ts'
import { createView, type View, type Views } from './view.ts'

type Context = AppContext<PricesConfig, ToMain, ToThread>

/** Builds the app of one serving thread. */
export async function createPricesApp(context: Context): Promise<App> {
  const { config, bus, log, registry } = context
  const kinds = await loadIndexes(config)
  const { state: first, share, logState } = context.shared as Shared
  const level = SHARED_CATALOGS.includes(config.catalog)
    ? undefined
    : await openPricesLevel(logState ? viewFolder(config.data) : config.data, { share, log })

  async function open(state: State): Promise<View> {
    // After a fault main's word may come before the database is open again.
    await level?.opened()
    const store: PageStore = level ? createPageStore(level.db, state.generation) : NO_STORE
    const { cacheBytes } = config
    const catalog: Catalog = await parts.catalog[config.catalog]({ answers: state.answers, store, cacheBytes })
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
  bus.on('change', (change, rows) => become(view.with({ ...change, rows: unpackChanges(rows) })))
  bus.on('replace', async (state) => become(await open(state)))

  const views: Views = {
    current: () => view,
    indexOf(of, name) {
      const index = of.indexes.get(name === BITMAP ? (bitmapOf(of.indexes) ?? name) : name)
      if (!index) throw errors.INDEX_NOT_LOADED(`${name}; there are ${[...of.indexes.keys()].join(', ')}`)
      return index
    },
  }

  const catalog = bus.within(CATALOG_TIMEOUT)
  const replica =
    logState &&
    createReplica({
      state: logState,
      // Behind an import, it may be as long as for a change.
      reached: (sequence) => catalog.call('reached', sequence),
      barrier: (waiting) => catalog.call('barrier', waiting),
    })
  const data = dataHealth(share.memory)
  const names = [BITMAP, ...kinds.keys()]
  const app = await createApp(context, {
    title: 'Prices',
    description: 'Finds the one price that fits.',
    data,
    hotRoutes: [
      searchRoute({
        views,
        names,
        replica,
        bodyLimit: config.bodyLimit,
        budget: context.budget,
        timeout: config.sendTimeout,
      }),
      putRoute(groupPuts(catalog), replica, config.bodyLimit),
    ],
  })
  app.addHook('onClose', async () => {
    await view.release()
    await level?.close()
  })
  const faults = registry.getSingleMetric(FAULTS) as Counter
  await bulkRoute(app, views, replica, { log, faults, data }, config.sendTimeout)
  facetRoutes(app, views, replica)
  await priceRoutes(app, catalog, replica, config.sendTimeout)
  return app
}

const NO_STORE: PageStore = {
  read() {
    throw new Error('this catalog reads no store')
  },
  renew: () => NO_STORE,
  async close() {},
}
