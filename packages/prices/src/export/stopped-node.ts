import { findStoppedNode, openStoppedNode } from '@influencer-stats/log/rescue/stopped-node'
import { SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { createPricesSnapshots, parsePricesRow } from '../catalog/prices-state-machine.ts'
import { openPricesLevel } from '../storage/database.ts'
import { META_KEY } from '../storage/page-store.ts'

/** Opens the state of a stopped node. @param from data folder of prices, or of all services. @throws StartError */
export async function openStopped(from: string) {
  const folder = findStoppedNode('prices', from)
  const level = await openPricesLevel(folder, { isReplica: true, log: SILENT_LOG })
  return openStoppedNode({
    service: 'prices',
    folder,
    level,
    positionKey: META_KEY,
    parseRow: parsePricesRow,
    snapshots: createPricesSnapshots(level.db),
  })
}
