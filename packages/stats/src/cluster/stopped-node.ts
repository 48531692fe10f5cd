import { findStoppedNode, openStoppedNode } from '@influencer-stats/log/rescue/stopped-node'
import { SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { openStatsLevel } from '../state/level-database.ts'
import { createStatsSnapshots, POSITION_KEY } from '../state/level-snapshot.ts'

/** Opens the state of a stopped node. @param from data folder of stats, or of all services. @throws StartError */
export async function openStopped(from: string) {
  const folder = findStoppedNode('stats', from)
  const level = await openStatsLevel({ folder, isReplica: true, log: SILENT_LOG })
  const snapshots = createStatsSnapshots(level.db)
  return openStoppedNode({ service: 'stats', folder, level, positionKey: POSITION_KEY, snapshots })
}
