import { gauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { samplePrices, sampleSize } from './core/sample.ts'
import { openPricesLevel } from './database.ts'
import { ImportSessions } from './import-sessions.ts'
import { loadIndexes } from './load-indexes.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { CatalogOwner } from './owner/catalog-owner.ts'
import { SHARED_CATALOGS } from './parts.ts'
import { CATALOG_TIMEOUT, type PricesConfig } from './settings.ts'

type Context = OpenContext<PricesConfig, ToThread>

/** Opens what exists once per process: the catalog, which main alone changes. */
export async function openPrices({ config, registry, broadcast, log }: Context): Promise<Opened<ToMain>> {
  const indexes = await loadIndexes(config)
  let owner: CatalogOwner
  const level = await openPricesLevel(config.data, { log, onRecovered: () => owner?.reload() })
  try {
    owner = await CatalogOwner.open(
      {
        level,
        indexes,
        log,
        most: config.maxPrices,
        holdsBlocks: SHARED_CATALOGS.includes(config.catalog),
        onChange: (change) => broadcast('change', change),
        onReplace: (state) => broadcast.within(CATALOG_TIMEOUT)('replace', state),
      },
      config.sample === 'yes' ? { size: sampleSize(), prices: samplePrices() } : undefined,
    )
  } catch (error) {
    await level.close()
    throw error
  }
  const imports = new ImportSessions(owner, config.maxPrices)
  gauge(registry, 'prices_count', 'Prices in the catalog.', () => owner.size)

  return {
    shared: (): Shared => ({ state: owner.state(), share: level.share() }),
    threadGone: (shared) => void level.gone((shared as Shared).share),
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
      await level.close()
    },
  }
}
