import { toReadProblem } from '@influencer-stats/runtime/read-errors'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { toWireError } from '@influencer-stats/runtime/problems'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { CatalogDraft } from './core/catalog-draft.ts'
import { createSampleDraft } from './sample/sample-draft.ts'
import { openPricesLevel } from './storage/database.ts'
import { packChanges } from './index/packed-changes.ts'
import { ExportSessions } from './export/export-sessions.ts'
import { ImportSessions } from './import/import-sessions.ts'
import { findBitmapIndex, loadIndexes, type LoadedIndexes } from './search/load-indexes.ts'
import type {
  ExportRange,
  ImportOptions,
  ImportHandler,
  PricesSharedState,
  PricesMainMessage,
  PricesThreadMessage,
} from './messages.ts'
import { PriceCatalog } from './catalog/price-catalog.ts'
import { BITMAP_ALIAS, BITMAP_INDEXES, SHARED_STORES } from './parts.ts'
import { CATALOG_TIMEOUT_MS, type PricesConfig } from './settings.ts'

/** Added to the longest wait for a client: after that time, a thread without calls is assumed to be dead (ms). */
const THREAD_TIMEOUT_MS = 60_000
const NO_BINARY_NOTE = `the package roaring has no binary for this system, so the index is ${BITMAP_INDEXES[1]}; \`npx -y pnpm@12.21.0 install\` compiles a binary if a C++ compiler is installed`

export type PricesMainContext = OpenContext<PricesConfig, PricesThreadMessage>

/** Opens the parts that exist once per process: the catalog, which only the main thread changes. */
export async function openPrices(context: PricesMainContext): Promise<ServiceMain<PricesMainMessage>> {
  const { config, log } = context
  const indexes = await loadIndexes(config)
  let catalog: PriceCatalog
  const level = await openPricesLevel(config.data, { log, onRecovered: () => catalog?.reload() })
  try {
    catalog = await openCatalog(context, indexes, level, config.sample === 'yes' ? createSampleDraft : undefined)
  } catch (error) {
    await level.close()
    throw error
  }
  const { handlers, close, ...catalogParts } = createCatalogParts(context, indexes, catalog)
  const imports = new ImportSessions(catalog, config.maxPrices)

  return {
    backupSource: level,
    note: catalogParts.note,
    shared: (): PricesSharedState => ({ state: catalog.getState(), share: level.share() }),
    onThreadExit: (shared) => void level.releaseShare((shared as PricesSharedState).share),
    handlers: {
      ...handlers,
      ...createImportHandlers(imports),
      async put(puts) {
        const outcomes = await Promise.allSettled(
          puts.map(({ key: id, body }) => catalog.put({ ...JSON.parse(body), id })),
        )
        return outcomes.map((one) =>
          one.status === 'fulfilled' ? one.value : toWireError(toReadProblem(one.reason) ?? one.reason),
        )
      },
      remove: (id) => catalog.remove(id),
      waitForSequence() {},
      barrier() {},
    },
    async close() {
      imports.close()
      await close()
      await level.close()
    },
  }
}

/**
 * Opens the catalog, which sends each change to all threads.
 * @param createFirst creates the first catalog of a database that never had prices
 * @throws StartError `DATA_DAMAGED`
 */
export function openCatalog(
  { config, broadcast, log }: PricesMainContext,
  indexes: LoadedIndexes,
  level: SharedLevel,
  createFirst?: () => CatalogDraft,
): Promise<PriceCatalog> {
  return PriceCatalog.open(
    {
      level,
      indexes,
      log,
      maxPrices: config.maxPrices,
      hasSharedBlocks: SHARED_STORES.includes(config.catalog),
      onChange: ({ rows, ...change }) => broadcast('change', change, packChanges(rows)),
      onReplace: (state) => broadcast.withTimeout(CATALOG_TIMEOUT_MS)('replace', state),
    },
    createFirst,
  )
}

/** Creates the parts that a standalone service and a cluster node have in common. */
export function createCatalogParts(
  { config, registry }: PricesMainContext,
  indexes: LoadedIndexes,
  catalog: PriceCatalog,
) {
  // A thread makes no call while its client reads a piece.
  const exports = new ExportSessions(catalog, 2 * config.sendTimeout + THREAD_TIMEOUT_MS)
  registerGauge(registry, 'prices_catalog_size', 'Prices in the catalog.', () => catalog.size)
  return {
    note:
      config.indexes.includes(BITMAP_ALIAS) && findBitmapIndex(indexes) !== BITMAP_INDEXES[0]
        ? NO_BINARY_NOTE
        : undefined,
    handlers: {
      get: (id: string) => catalog.get(id),
      exportStart: (range: ExportRange) => exports.start(range),
      exportNext: (token: number) => exports.readNext(token),
      exportEnd: (token: number) => exports.end(token),
    },
    async close() {
      await exports.close()
      await catalog.waitUntilIdle()
    },
  }
}

/** Creates the handlers for the import calls of serving threads. */
export const createImportHandlers = (imports: ImportHandler) => ({
  importStart: (options: ImportOptions) => imports.start(options),
  importChunk: (token: number, bytes: Uint8Array) => imports.addChunk(token, bytes),
  importEnd: (token: number) => imports.end(token),
  importAbort: (token: number) => imports.abort(token),
})
