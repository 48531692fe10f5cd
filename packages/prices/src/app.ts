import { createWriteReadiness, toReplicaFolder } from '@influencer-stats/log/log-state'
import { registerNodeRoute } from '@influencer-stats/log/node-route'
import { createReplica } from '@influencer-stats/log/replica'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { createApp, type App } from '@influencer-stats/runtime/http'
import { createDataHealth } from '@influencer-stats/runtime/level-health'
import { FAULT_COUNTER_NAME } from '@influencer-stats/runtime/request-metrics'
import type { Counter } from '@influencer-stats/runtime/prom-client'
import type { AppContext } from '@influencer-stats/runtime/service'
import type { AnswerStore, PageStore } from './answer-store/answer-store.ts'
import { openPricesLevel } from './storage/database.ts'
import { errors } from './errors.ts'
import { unpackChanges } from './index/packed-changes.ts'
import { findBitmapIndex, loadIndexes } from './search/load-indexes.ts'
import type { PricesSharedState, CatalogState, PricesMainMessage, PricesThreadMessage } from './messages.ts'
import { createPageStore } from './storage/page-store.ts'
import { BITMAP_ALIAS, parts, SHARED_STORES } from './parts.ts'
import { addExportRoute } from './routes/export.ts'
import { addFacetRoutes } from './routes/facets.ts'
import { addImportRoute } from './routes/import.ts'
import { addPriceRoutes } from './routes/prices.ts'
import { addRemovalRoute } from './routes/remove-prices.ts'
import { addPatchRoute } from './routes/patch-price.ts'
import { batchPuts } from './routes/put/batch-puts.ts'
import { createPutRoute } from './routes/put/put-price.ts'
import { addBulkRoute } from './routes/bulk.ts'
import { createSearchRoute } from './routes/search.ts'
import { CATALOG_TIMEOUT_MS, type PricesConfig } from './settings.ts'
import { createPriceReader } from './search/refusal/price-reader.ts'
import { createCatalogView, type CatalogView, type CatalogViews } from './search/catalog-view.ts'

type PricesAppContext = AppContext<PricesConfig, PricesMainMessage, PricesThreadMessage>

/** Builds the app of one serving thread. */
export async function createPricesApp(context: PricesAppContext): Promise<App> {
  const { config, bus, log, registry } = context
  const kinds = await loadIndexes(config)
  const { state: initialState, share, logState } = context.shared as PricesSharedState
  const level = SHARED_STORES.includes(config.catalog)
    ? undefined
    : await openPricesLevel(logState ? toReplicaFolder(config.data) : config.data, { share, log })

  async function open(state: CatalogState): Promise<CatalogView> {
    // After a fault, the message from the main thread may arrive before the database is open again.
    await level?.waitUntilOpen()
    const store: PageStore = level ? createPageStore(level.db, state.generation) : NO_PAGE_STORE
    const { cacheBytes } = config
    const catalog: AnswerStore = await parts.catalog[config.catalog]({ answers: state.answers, store, cacheBytes })
    const indexes = new Map(
      Array.from(kinds, ([name, kind]) => [name, kind.read(state.segments.get(name) ?? new Map())]),
    )
    return createCatalogView(state, { usedTerms: state.usedTerms, answerStore: catalog, indexes })
  }

  let view = await open(initialState)
  function setView(next: CatalogView): void {
    const previous = view
    view = next
    previous
      .release()
      .catch((error: unknown) => log.error({ err: error }, 'a previous view of the catalog could not be closed'))
  }
  bus.on('change', (change, rows) => setView(view.with({ ...change, rows: unpackChanges(rows) })))
  bus.on('replace', async (state) => setView(await open(state)))

  const views: CatalogViews = {
    getCurrent: () => view,
    findIndex(catalogView, name) {
      const index = catalogView.indexes.get(
        name === BITMAP_ALIAS ? (findBitmapIndex(catalogView.indexes) ?? name) : name,
      )
      if (!index) {
        const names = [BITMAP_ALIAS, ...catalogView.indexes.keys()].join(', ')
        throw errors.INDEX_NOT_LOADED(`index must be one of ${names}; received ${formatReceived(name)}`)
      }
      return index
    },
  }

  const catalog = bus.withTimeout(CATALOG_TIMEOUT_MS)
  const replica =
    logState &&
    createReplica({
      state: logState,
      // These calls have the long timeout of `catalog`, because the node may have to apply a whole import first.
      waitForSequence: (sequence) => catalog.call('waitForSequence', sequence),
      barrier: (waiting) => catalog.call('barrier', waiting),
    })
  const data = createDataHealth(share.memory)
  const names = [BITMAP_ALIAS, ...kinds.keys()]
  const app = await createApp(context, {
    title: 'Prices',
    description: 'Finds the one price that matches all conditions.',
    data,
    writes: logState && createWriteReadiness(logState),
    hotRoutes: [
      createSearchRoute({
        views,
        names,
        replica,
        bodyLimit: config.bodyLimit,
        budget: context.budget,
        timeout: config.sendTimeout,
        readPrices: createPriceReader(bus, (error) =>
          log.warn({ err: error }, 'the prices of a refused search could not be read'),
        ),
      }),
      createPutRoute(batchPuts(catalog), replica, config.bodyLimit),
    ],
  })
  app.addHook('onClose', async () => {
    await view.release()
    await level?.close()
  })
  const faults = registry.getSingleMetric(FAULT_COUNTER_NAME) as Counter
  const content = { budget: context.budget, limit: config.importLimit, tooLarge: commonErrors.BODY_TOO_LARGE }
  await addBulkRoute(app, views, replica, { log, faults, data }, content)
  registerNodeRoute(app, logState)
  addFacetRoutes(app, views, replica)
  addPriceRoutes(app, catalog, replica)
  addRemovalRoute(app, catalog, views, replica)
  addExportRoute(app, catalog, replica, config.sendTimeout, context.budget)
  await app.register(async (scope: App) => addPatchRoute(scope, catalog, replica))
  await app.register(async (scope: App) => addImportRoute(scope, catalog, views, replica, config.maxPrices, content))
  return app
}

const NO_PAGE_STORE: PageStore = {
  read() {
    throw new Error('this catalog reads no store')
  },
  renew: () => NO_PAGE_STORE,
  async close() {},
}
