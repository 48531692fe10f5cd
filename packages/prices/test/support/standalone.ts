import { openLocalLog } from '@influencer-stats/log/local-log'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { encodePut, encodeText, IMPORT_BEGIN, PUT, REMOVE } from '../../src/catalog/log-entries.ts'
import { LoggedImport } from '../../src/catalog/logged-import.ts'
import { PriceCatalog, type PriceCatalogOptions } from '../../src/catalog/price-catalog.ts'
import { openPricesStateMachine, toResult, type PricesOutcome } from '../../src/catalog/prices-state-machine.ts'
import type { CatalogDraft } from '../../src/core/catalog-draft.ts'
import type { Price } from '../../src/core/price.ts'
import { LogImports, type AppendEntry } from '../../src/import/log-imports.ts'
import { createPriceCollector, sendImport } from '../../src/import/send-import.ts'
import { loadIndexes } from '../../src/search/load-indexes.ts'
import type { LogCheckpoint } from '../../src/storage/log-checkpoint.ts'

const indexes = await loadIndexes({ indexes: ['bitset'] })

/** The checkpoint of a test that uses no log. */
export const NO_POSITION: LogCheckpoint = { made: 0, boot: undefined }

/** A catalog on the main thread, without threads. It is not loaded yet. */
export const createTestCatalog = (
  level: SharedLevel,
  options: Partial<PriceCatalogOptions> = {},
  createFirst?: () => CatalogDraft,
) =>
  new PriceCatalog(
    {
      level,
      indexes,
      log: { error: () => undefined },
      isReplica: false,
      hasSharedBlocks: true,
      onChange: async () => undefined,
      onReplace: async () => undefined,
      ...options,
    },
    createFirst,
  )

/** Creates a catalog and loads it. */
export async function openTestCatalog(...options: Parameters<typeof createTestCatalog>): Promise<PriceCatalog> {
  const catalog = createTestCatalog(...options)
  await catalog.load()
  return catalog
}

/** Loads a catalog, and adds the main thread of a standalone service. */
export async function openTestStandalone(catalog: PriceCatalog, level: SharedLevel, maxPrices = 1e6) {
  const stateMachine = await openPricesStateMachine(catalog, level, false)
  const journal = openLocalLog({ stateMachine })
  const append: AppendEntry = async (kind, body) =>
    toResult((await journal.append<PricesOutcome>(kind, body)).outcome) as never
  const imports = new LogImports({ append, catalog, maxPrices, maxImportBytes: Infinity })
  return {
    /** @returns true if the price is new */
    put: ({ id, ...price }: Price) =>
      append<boolean>(PUT, encodePut(id.toLowerCase(), JSON.stringify(price), maxPrices)),
    /** @returns true if the price existed */
    remove: (id: string) => append<boolean>(REMOVE, encodeText(id)),
    /** Imports lines as a thread does. */
    async import(chunks: Iterable<Uint8Array>, replace = false) {
      const token = await imports.start({ replace, empty: true })
      try {
        await sendImport(toAsync(chunks), createPriceCollector(), (piece) => imports.addPiece(token, piece))
      } catch (error) {
        await imports.abort(token)
        throw error
      }
      return imports.end(token)
    },
    async close() {
      imports.close()
      await journal.close()
    },
  }
}

async function* toAsync<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

/** Returns prices as the lines of an import. */
export const toLines = (prices: readonly Price[]): Buffer =>
  Buffer.from(prices.map((price) => `${JSON.stringify(price)}\n`).join(''))

/** Returns an import of valid prices. */
export function createTestImport(prices: Iterable<Price>, replace: boolean): LoggedImport {
  const one = new LoggedImport({ replace, most: 1e6, kind: IMPORT_BEGIN })
  for (const price of prices) one.draft.put(price)
  return one
}
