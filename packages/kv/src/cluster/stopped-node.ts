import { findStoppedNode, openStoppedNode } from '@influencer-stats/log/rescue/stopped-node'
import { SILENT_LOG } from '@influencer-stats/runtime/stopped-folder'
import { STATE_KEY } from '../revisions.ts'
import { openKvLevel } from '../store/level-store.ts'
import { createKvSnapshots } from './kv-state-machine.ts'

const CACHE_MEGABYTES = 8

/** Opens the state of a stopped node. @param from data folder of kv, or of all services. @throws StartError */
export async function openStopped(from: string) {
  const folder = findStoppedNode('kv', from)
  const level = await openKvLevel(folder, CACHE_MEGABYTES, { isReplica: true, log: SILENT_LOG })
  return openStoppedNode({
    service: 'kv',
    folder,
    level,
    positionKey: STATE_KEY,
    snapshots: createKvSnapshots(level.db),
  })
}
