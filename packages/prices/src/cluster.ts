import { clearLevel } from '@influencer-stats/log/boot-check'
import { createLogStateMemory, toReplicaFolder, writeLogState } from '@influencer-stats/log/log-state'
import { openClusterLog } from '@influencer-stats/log/cluster-log'
import { StartError } from '@influencer-stats/runtime/errors'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import { openPricesLevel } from './storage/database.ts'
import { loadIndexes } from './search/load-indexes.ts'
import { PIECE_BYTES } from './import/send-import.ts'
import type { PricesMainMessage } from './messages.ts'
import type { PriceCatalog } from './catalog/price-catalog.ts'
import { clearTorn, PricesStateMachine } from './catalog/prices-state-machine.ts'
import { createPricesMain, openCatalog, type PricesMainContext } from './prices-main.ts'
import { META_KEY } from './storage/page-store.ts'
import { CATALOG_TIMEOUT_MS } from './settings.ts'

/**
 * Maximum size of the log between two snapshots (bytes). An import is several times larger than its result, so the log
 * must not contain many imports.
 */
const SNAPSHOT_INTERVAL_BYTES = 1_073_741_824

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
    PricesStateMachine.open((catalog = await openCatalog(context, indexes, level, true)), level, true)
  try {
    await clearTorn(level)
    const stateMachine = await openStateMachine().catch(async (error: unknown) => {
      if (!(error instanceof StartError) || error.code !== 'DATA_DAMAGED') throw error
      log.error(`${error.message}; the node rebuilds it from the log`)
      await clearLevel(level, META_KEY)
      return openStateMachine()
    })
    const logState = createLogStateMemory()
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
      onState: (now) => writeLogState(logState, now),
    })
    return createPricesMain(context, { indexes, level, catalog: catalog!, stateMachine, journal, logState })
  } catch (error) {
    await level.close()
    throw error
  }
}
