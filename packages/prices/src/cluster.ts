import { clearLevel } from '@influencer-stats/log/boot-check'
import { closeLevel } from '@influencer-stats/log/level-state-machine'
import type { Log } from '@influencer-stats/log/log'
import { createLogStateMemory, toReplicaFolder, writeLogState } from '@influencer-stats/log/log-state'
import { openClusterLog } from '@influencer-stats/log/cluster-log'
import { StartError } from '@influencer-stats/runtime/errors'
import { toWireError } from '@influencer-stats/runtime/problems'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { encodePut, encodeText, PUT, REMOVE } from './catalog/log-entries.ts'
import { openPricesLevel } from './storage/database.ts'
import { loadIndexes } from './search/load-indexes.ts'
import { LogImports, PIECE_BYTES, type AppendEntry } from './import/log-imports.ts'
import { createCatalogParts, createImportHandlers, openCatalog, type PricesMainContext } from './standalone.ts'
import type { PricesSharedState, PricesMainMessage } from './messages.ts'
import type { PriceCatalog } from './catalog/price-catalog.ts'
import { clearTorn, PricesStateMachine, toResult, type PricesOutcome } from './catalog/prices-state-machine.ts'
import { META_KEY } from './storage/page-store.ts'
import { CATALOG_TIMEOUT_MS } from './settings.ts'

/**
 * Maximum size of the log between two snapshots (bytes). An import is several times larger than its result, so the log
 * must not contain many imports.
 */
const SNAPSHOT_INTERVAL_BYTES = 1_073_741_824

const createAppend =
  (log: Log, level: SharedLevel): AppendEntry =>
  async (kind, body) => {
    const fault = level.getFault()
    if (fault) throw fault
    return toResult((await log.append<PricesOutcome>(kind, body)).outcome) as never
  }

/**
 * Opens the parts of a cluster node that exist once per process: the log, and the catalog that this node builds from
 * it.
 * @throws StartError
 */
export async function openPricesNode(context: PricesMainContext): Promise<ServiceMain<PricesMainMessage>> {
  const { config, registry, log, fail } = context
  const indexes = await loadIndexes(config)
  let catalog: PriceCatalog
  const level = await openPricesLevel(toReplicaFolder(config.data), {
    log,
    isReplica: true,
    onRecovered: () => catalog?.reload(),
  })
  const openStateMachine = async () =>
    PricesStateMachine.open((catalog = await openCatalog(context, indexes, level)), level)
  try {
    await clearTorn(level)
    const stateMachine = await openStateMachine().catch(async (error: unknown) => {
      if (!(error instanceof StartError) || error.code !== 'DATA_DAMAGED') throw error
      log.error(`${error.message}; the node rebuilds it from the log`)
      await clearLevel(level, META_KEY)
      return openStateMachine()
    })
    const catalogParts = createCatalogParts(context, indexes, catalog!)
    const state = createLogStateMemory()
    const journal = await openClusterLog({
      service: 'prices',
      config,
      registry,
      log,
      fail,
      stateMachine,
      snapshotIntervalBytes: SNAPSHOT_INTERVAL_BYTES,
      maxBody: Math.max(config.bodyLimit, PIECE_BYTES) + 65_536,
      // Entries are applied in order, so an entry may have to wait for an import.
      applyTimeout: CATALOG_TIMEOUT_MS,
      onState: (now) => writeLogState(state, now),
    })
    const append = createAppend(journal, level)
    const imports = new LogImports({
      append,
      stateMachine,
      maxPrices: config.maxPrices,
      maxImportBytes: config.importLimit,
    })

    return {
      note: catalogParts.note,
      shared: (): PricesSharedState => ({ state: catalog.getState(), share: level.share(), logState: state }),
      onThreadExit: (shared) => void level.releaseShare((shared as PricesSharedState).share),
      handlers: {
        ...catalogParts.handlers,
        ...createImportHandlers(imports),
        put: (puts) =>
          Promise.all(
            puts.map(({ key, body }) =>
              append<boolean>(PUT, encodePut(key, body, config.maxPrices)).catch((error: unknown) =>
                toWireError(error),
              ),
            ),
          ),
        remove: (id) => append<boolean>(REMOVE, encodeText(id.toLowerCase())),
        waitForSequence: (sequence) => journal.waitForSequence(sequence, config.sequenceWaitTimeout),
        barrier: async (waiting) => void (await journal.barrier(waiting)),
      },
      async close() {
        imports.close()
        await journal.close()
        await catalogParts.close()
        await closeLevel(stateMachine, level, log, 'prices')
      },
    }
  } catch (error) {
    await level.close()
    throw error
  }
}
