import { gauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { samplePrices, sampleSize } from './core/sample.ts'
import { openPricesLevel } from './database.ts'
import { ImportSessions } from './import-sessions.ts'
import { loadIndexes } from './load-indexes.ts'
import type { ToMain, ToThread } from './messages.ts'
import { CatalogOwner } from './owner/catalog-owner.ts'
import { upgrade } from './owner/upgrade.ts'
import { SHARED_CATALOGS } from './parts.ts'
import { CATALOG_TIMEOUT, type PricesConfig } from './settings.ts'

type Context = OpenContext<PricesConfig, ToThread>

/** Opens what exists once per process: the catalog, which main alone changes. */
export async function openPrices({ config, registry, broadcast }: Context): Promise<Opened<ToMain>> {
  const indexes = await loadIndexes(config)
  const db = await openPricesLevel(config.data)
  let owner: CatalogOwner
  try {
    await upgrade(db)
    owner = await CatalogOwner.open(
      {
        db,
        indexes,
        most: config.maxPrices,
        holdsBlocks: SHARED_CATALOGS.includes(config.catalog),
        onChange: (change) => broadcast('change', change),
        onReplace: (state) => broadcast.within(CATALOG_TIMEOUT)('replace', state),
      },
      config.sample === 'yes' ? { size: sampleSize(), prices: samplePrices() } : undefined,
    )
  } catch (error) {
    await db.close()
    throw error
  }
  const imports = new ImportSessions(owner, config.maxPrices)
  gauge(registry, 'prices_count', 'Prices in the catalog.', () => owner.size)

  return {
    shared: () => owner.state(),
    handlers: {
      get: (id) => owner.get(id),
      put: (price) => owner.put(price),
      remove: (id) => owner.remove(id),
      importStart: (options) => imports.start(options),
      importChunk: (token, bytes) => imports.chunk(token, bytes),
      importEnd: (token) => imports.end(token),
      importAbort: (token) => imports.abort(token),
    },
    async close() {
      imports.close()
      await owner.settled()
      await db.close()
    },
  }
}
