import { closeLevel } from '@influencer-stats/log/level-state-machine'
import { openClusterLog } from '@influencer-stats/log/cluster-log'
import { createLogClock, createLogStateMemory, toReplicaFolder } from '@influencer-stats/log/log-state'
import { StartError } from '@influencer-stats/runtime/errors'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import { WRITES_KIND } from './core/encode-writes.ts'
import type { Outcomes } from './core/evaluate-writes.ts'
import { registerLevelMetrics } from './kv-metrics.ts'
import type { KvClusterMessage, KvClusterState } from './messages.ts'
import type { KvContext } from './settings.ts'
import { TtlState, createTtlMemory } from './store/ttl.ts'
import { openKvLevel } from './store/level-store.ts'
import { startClusterExpiry } from './cluster/cluster-expiry.ts'
import { openKvStateMachine } from './cluster/kv-state-machine.ts'
import { ChangeFeed } from './watch/change-feed.ts'
import { toPage } from './core/change-pages.ts'

/**
 * Opens the resources that exist once per process of a cluster node: the log, and the database that this node derives
 * from the log.
 * @throws StartError
 */
export async function openKvNode({ config, registry, log, fail }: KvContext): Promise<ServiceMain<KvClusterMessage>> {
  if (config.store !== 'level')
    throw new StartError('SETTINGS_WRONG', `kv: --cluster requires --store level, not ${config.store}`)
  const level = await openKvLevel(toReplicaFolder(config.data), config.cacheMegabytes, { log, isReplica: true })
  const state = createLogStateMemory()
  try {
    const feed = new ChangeFeed(config.watchHistory)
    const ttlMemory = createTtlMemory()
    const ttl = new TtlState(ttlMemory, createLogClock(state))
    const stateMachine = await openKvStateMachine(level, feed, ttl)
    const clusterLog = await openClusterLog({
      service: 'kv',
      config,
      registry,
      log,
      fail,
      stateMachine,
      maxBody: Math.max(config.batchLimit, config.valueLimit) + 65_536,
      memory: state,
    })
    const stopExpiring = startClusterExpiry(clusterLog, stateMachine, () => ttl.now())
    registerLevelMetrics(level, config.cacheMegabytes, registry)
    return {
      backupSource: clusterLog.backupSource,
      shared: (): KvClusterState => ({ share: level.share(), ttlMemory, logState: state }),
      onThreadExit: (shared) => void level.releaseShare((shared as KvClusterState).share),
      handlers: {
        async append(writes, count) {
          const body = Buffer.from(writes.buffer, writes.byteOffset, writes.byteLength)
          const { seq, outcome } = await clusterLog.append<Outcomes>(WRITES_KIND, body, count)
          return { sequence: seq, outcomes: outcome }
        },
        waitForSequence: (sequence) => clusterLog.waitForSequence(sequence, config.sequenceWaitTimeout),
        barrier: async (waiters) => void (await clusterLog.barrier(waiters)),
        changes: async (after, ...options) =>
          after === undefined ? toPage([], feed.upTo) : feed.readAfter(after, ...options),
      },
      async close() {
        feed.stop()
        stopExpiring()
        await clusterLog.close()
        await closeLevel(stateMachine, level, log, 'kv')
      },
    }
  } catch (error) {
    await level.close()
    throw error
  }
}
