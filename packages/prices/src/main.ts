import { readFault } from '@influencer-stats/runtime/read-faults'
import { gauge } from '@influencer-stats/runtime/gauge'
import { toWire } from '@influencer-stats/runtime/problems'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Draft } from './core/draft.ts'
import { draftSample } from './core/sample-draft.ts'
import { openPricesLevel } from './database.ts'
import { packChanges } from './index/row-changes.ts'
import { ExportSessions } from './export-sessions.ts'
import { ImportSessions } from './import-sessions.ts'
import { bitmapOf, loadIndexes, type LoadedIndexes } from './load-indexes.ts'
import type { ExportRange, ImportOptions, Imports, Shared, ToMain, ToThread } from './messages.ts'
import { CatalogOwner } from './owner/catalog-owner.ts'
import { BITMAP, BITMAPS, SHARED_CATALOGS } from './parts.ts'
import { CATALOG_TIMEOUT, type PricesConfig } from './settings.ts'

/** A thread that says nothing for so long has died (ms). */
const SILENCE = 60_000
const NO_BINARY = `roaring has no binary here, so the index is ${BITMAPS[1]}; \`npx -y pnpm@12.21.0 install\` makes one with a C++ compiler`

export type Context = OpenContext<PricesConfig, ToThread>

/** Opens what exists once per process: the catalog, which main alone changes. */
export async function openPrices(context: Context): Promise<Opened<ToMain>> {
  const { config, log } = context
  if (config.log === 'jetstream') return (await import('./node.ts')).openPricesNode(context)
  const indexes = await loadIndexes(config)
  let owner: CatalogOwner
  const level = await openPricesLevel(config.data, { log, onRecovered: () => owner?.reload() })
  try {
    owner = await openOwner(context, indexes, level, config.sample === 'yes' ? draftSample : undefined)
  } catch (error) {
    await level.close()
    throw error
  }
  const { handlers, close, ...catalog } = catalogOf(context, indexes, owner)
  const imports = new ImportSessions(owner, config.maxPrices)

  return {
    kept: level,
    note: catalog.note,
    shared: (): Shared => ({ state: owner.state(), share: level.share() }),
    threadGone: (shared) => void level.gone((shared as Shared).share),
    handlers: {
      ...handlers,
      ...importHandlers(imports),
      async put(puts) {
        const outcomes = await Promise.allSettled(
          puts.map(({ key: id, body }) => owner.put({ ...JSON.parse(body), id })),
        )
        return outcomes.map((one) =>
          one.status === 'fulfilled' ? one.value : toWire(readFault(one.reason) ?? one.reason),
        )
      },
      remove: (id) => owner.remove(id),
      reached() {},
      barrier() {},
    },
    async close() {
      imports.close()
      await close()
      await level.close()
    },
  }
}

/** @throws StartError `DATA_DAMAGED` */
export function openOwner(
  { config, broadcast, log }: Context,
  indexes: LoadedIndexes,
  level: SharedLevel,
  first?: () => Draft,
): Promise<CatalogOwner> {
  return CatalogOwner.open(
    {
      level,
      indexes,
      log,
      most: config.maxPrices,
      holdsBlocks: SHARED_CATALOGS.includes(config.catalog),
      onChange: ({ rows, ...change }) => broadcast('change', change, packChanges(rows)),
      onReplace: (state) => broadcast.within(CATALOG_TIMEOUT)('replace', state),
    },
    first,
  )
}

/** What is the same whoever gives the order of changes. */
export function catalogOf({ config, registry }: Context, indexes: LoadedIndexes, owner: CatalogOwner) {
  // A thread is silent as long as its client takes to read a piece.
  const exports = new ExportSessions(owner, 2 * config.sendTimeout + SILENCE)
  gauge(registry, 'prices_in_catalog', 'Prices in the catalog.', () => owner.size)
  return {
    note: config.indexes.includes(BITMAP) && bitmapOf(indexes) !== BITMAPS[0] ? NO_BINARY : undefined,
    handlers: {
      get: (id: string) => owner.get(id),
      exportStart: (range: ExportRange) => exports.start(range),
      exportNext: (token: number) => exports.next(token),
      exportEnd: (token: number) => exports.end(token),
    },
    async close() {
      await exports.close()
      await owner.settled()
    },
  }
}

/** What becomes of an import that a thread takes. */
export const importHandlers = (imports: Imports) => ({
  importStart: (options: ImportOptions) => imports.start(options),
  importChunk: (token: number, bytes: Uint8Array) => imports.chunk(token, bytes),
  importEnd: (token: number) => imports.end(token),
  importAbort: (token: number) => imports.abort(token),
})
