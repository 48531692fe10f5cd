import { createLogStateMemory, toReplicaFolder } from '@influencer-stats/log/log-state'
import { openClusterLog } from '@influencer-stats/log/cluster-log'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import { PIECE_BYTES } from './import/send-import.ts'
import type { PricesMainMessage } from './messages.ts'
import { openMain, type PricesMainContext } from './prices-main.ts'
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
export function openPricesNode(context: PricesMainContext): Promise<ServiceMain<PricesMainMessage>> {
  const { config, registry, log, fail } = context
  const logState = createLogStateMemory()
  return openMain(context, {
    folder: toReplicaFolder(config.data),
    isReplica: true,
    logState,
    openLog: (stateMachine) =>
      openClusterLog({
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
        memory: logState,
      }),
  })
}
