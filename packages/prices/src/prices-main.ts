import { clearLevel } from '@influencer-stats/log/boot-check'
import { closeLevel, type LevelStateMachine } from '@influencer-stats/log/level-state-machine'
import type { EntryBody, Log, StateMachine } from '@influencer-stats/log/log'
import type { BackupSource } from '@influencer-stats/runtime/backup-source'
import { StartError } from '@influencer-stats/runtime/errors'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { toWireError } from '@influencer-stats/runtime/problems'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { encodePut, encodeText, PATCH, PUT, REMOVE, REMOVE_WHERE } from './catalog/log-entries.ts'
import { PriceCatalog } from './catalog/price-catalog.ts'
import { openPricesStateMachine, toResult, type PricesOutcome } from './catalog/prices-state-machine.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { CatalogDraft } from './core/catalog-draft.ts'
import type { Price } from './core/price.ts'
import { parsePriceJson } from './core/price-json.ts'
import { normalizeId } from './core/price-id.ts'
import { ExportSessions } from './export/export-sessions.ts'
import { LogImports, type AppendEntry } from './import/log-imports.ts'
import { packChanges } from './index/packed-changes.ts'
import type {
  PatchedPrice,
  PricesSharedState,
  PricesMainMessage,
  PricesThreadMessage,
  RemovalResult,
} from './messages.ts'
import { BITMAP_ALIAS, BITMAP_INDEXES, SHARED_STORES } from './parts.ts'
import { findBitmapIndex, loadIndexes } from './search/load-indexes.ts'
import { CATALOG_TIMEOUT_MS, type PricesConfig } from './settings.ts'
import { openPricesLevel } from './storage/database.ts'
import { META_KEY } from './storage/page-store.ts'

/** Added to the longest wait for a client: after that time, a thread without calls is assumed to be dead (ms). */
const THREAD_TIMEOUT_MS = 60_000
const NO_BINARY_NOTE = `the package roaring has no binary for this system, so the index is ${BITMAP_INDEXES[1]}; \`npx -y pnpm@12.21.0 install\` compiles a binary if a C++ compiler is installed`

export type PricesMainContext = OpenContext<PricesConfig, PricesThreadMessage>

/** Log of the service. That of a cluster node is the source of its backups. */
type PricesLog = Log & { readonly backupSource?: BackupSource }

/** The parts that differ between a standalone service and a node of a cluster. */
export interface PricesBackend {
  readonly folder: string
  /** True for a node of a cluster. */
  readonly isReplica: boolean
  /** Creates the first catalog of a database that never had prices. By default it is empty. */
  createFirst?: (() => CatalogDraft) | undefined
  /** Opens the log whose entries the state machine applies. */
  openLog(stateMachine: StateMachine): PricesLog | Promise<PricesLog>
  /** Memory with the position in the log, on a node of a cluster. */
  readonly logState?: SharedArrayBuffer
}

/**
 * Opens the parts of the service that exist once per process: the catalog, which sends each change to all threads, and
 * its log.
 * @throws StartError
 */
export async function openMain(
  { config, registry, broadcast, log }: PricesMainContext,
  { folder, isReplica, createFirst, openLog, logState }: PricesBackend,
): Promise<ServiceMain<PricesMainMessage>> {
  const { maxPrices, importLimit, sendTimeout, sequenceWaitTimeout, clientMemoryLimit } = config
  const indexes = await loadIndexes(config)
  let catalog!: PriceCatalog
  const level = await openPricesLevel(folder, { log, isReplica, onRecovered: () => catalog?.load() })
  function openStateMachine() {
    catalog = new PriceCatalog(
      {
        level,
        indexes,
        log,
        isReplica,
        hasSharedBlocks: SHARED_STORES.includes(config.catalog),
        onChange: ({ rows, ...change }) => broadcast('change', change, packChanges(rows)),
        onReplace: (state) => broadcast.withTimeout(CATALOG_TIMEOUT_MS)('replace', state),
      },
      createFirst,
    )
    return openPricesStateMachine(catalog, level, isReplica)
  }
  let stateMachine: LevelStateMachine
  let journal: PricesLog
  try {
    stateMachine = await openStateMachine().catch(async (error: unknown) => {
      if (!isReplica || !(error instanceof StartError) || error.code !== 'DATA_DAMAGED') throw error
      log.error(`${error.message}; the node rebuilds it from the log`)
      await clearLevel(level, META_KEY)
      return openStateMachine()
    })
    journal = await openLog(stateMachine)
  } catch (error) {
    await level.close()
    throw error
  }
  const append: AppendEntry = async (kind, body) => {
    const fault = level.getFault()
    if (fault) throw fault
    return toResult((await journal.append<PricesOutcome>(kind, body)).outcome) as never
  }
  const imports = new LogImports({ append, catalog, maxPrices, maxImportBytes: importLimit })
  // A thread makes no call while its client reads a piece.
  const exports = new ExportSessions(catalog, {
    memoryLimit: clientMemoryLimit,
    idleTimeoutMs: 2 * sendTimeout + THREAD_TIMEOUT_MS,
  })
  registerGauge(registry, 'prices_catalog_size', 'Prices in the catalog.', () => catalog.size)

  return {
    note:
      config.indexes.includes(BITMAP_ALIAS) && findBitmapIndex(indexes) !== BITMAP_INDEXES[0]
        ? NO_BINARY_NOTE
        : undefined,
    backupSource: journal.backupSource ?? level,
    shared: (): PricesSharedState => ({
      state: catalog.getState(),
      share: level.share(),
      ...(logState && { logState }),
    }),
    onThreadExit: (shared) => void level.releaseShare((shared as PricesSharedState).share),
    handlers: {
      get: (id) => catalog.get(id),
      async getMany(ids) {
        const prices: (Price | undefined)[] = []
        for (const id of ids) {
          prices.push(await catalog.get(id))
          await yieldTurn()
        }
        return prices
      },
      put: (puts) =>
        Promise.all(
          puts.map(({ key, body }) =>
            append<boolean>(PUT, createPutBody(key, body, maxPrices)).catch((error: unknown) => toWireError(error)),
          ),
        ),
      patch: ({ key, body }) => append<PatchedPrice>(PATCH, createPutBody(key, body, maxPrices)),
      remove: (id) => append<boolean>(REMOVE, encodeText(normalizeId(id))),
      removeWhere: (removal) => append<RemovalResult>(REMOVE_WHERE, encodeText(removal)),
      importStart: (options) => imports.start(options),
      importPiece: (token, prices) => imports.addPiece(token, prices),
      importEnd: (token) => imports.end(token),
      importAbort: (token) => imports.abort(token),
      exportStart: (range) => exports.start(range),
      exportNext: (token) => exports.readNext(token),
      exportEnd: (token) => exports.end(token),
      waitForSequence: (sequence) => journal.waitForSequence(sequence, sequenceWaitTimeout),
      barrier: async (waiting) => void (await journal.barrier(waiting)),
    },
    async close() {
      imports.close()
      await journal.close()
      await exports.close()
      await catalog.waitUntilIdle()
      await closeLevel(stateMachine, level, log, 'prices')
    },
  }
}

/** @param body a price as JSON, which may omit its id */
const createPutBody = (key: string, body: string, most: number): EntryBody => ({
  get value() {
    return { key, most, price: parsePriceJson(body) }
  },
  encode: () => encodePut(key, body, most),
})
