import type { ServiceMain } from '@influencer-stats/runtime/service'
import { registerLevelMetrics } from './kv-metrics.ts'
import type { KvLevelMessage, KvStandaloneMessage, KvStandaloneState } from './messages.ts'
import type { KvContext } from './settings.ts'
import { toDuePosition } from './core/internal-keys.ts'
import { hasStopMark, writeStopMark } from './stop-mark.ts'
import { TtlState, createTtlMemory } from './store/ttl.ts'
import { readDueKeys, openKvLevel } from './store/level-store.ts'
import { openRevisions, createEphemeralRevisions } from './revisions.ts'
import { releaseLocksOf, createLockMemory } from './store/key-locks.ts'
import { LocalFeed } from './watch/local-feed.ts'

/**
 * Opens the resources of a standalone service that exist once per process: the database, which the threads then open
 * too, and the memory that all threads share.
 */
export async function openKv(context: KvContext): Promise<ServiceMain<KvStandaloneMessage | KvLevelMessage>> {
  const { config, registry, log, broadcast } = context
  const createFeed = (revisions: SharedArrayBuffer) =>
    new LocalFeed({ revisions, maxBytes: config.watchHistory, waitUntilSettled: () => broadcast('waitUntilSettled') })
  if (config.store === 'memory') {
    const revisions = createEphemeralRevisions()
    const feed = createFeed(revisions)
    return {
      shared: (): KvStandaloneState => ({ revisions, recording: feed.memory, ttlMemory: createTtlMemory() }),
      onThreadExit: () => feed.reset(),
      handlers: createHandlers(feed),
      close: async () => feed.close(),
    }
  }

  const level = await openKvLevel(config.data, config.cacheMegabytes, { log, watchDisk: true })
  level.isStopped = hasStopMark(config.data)
  if (level.isStopped) log.warn('kv: all writes are refused, until `pnpm kv allow-writes`')
  const revisions = await openRevisions(level)
  const feed = createFeed(revisions.memory)
  const ttlMemory = createTtlMemory()
  const ttl = new TtlState(ttlMemory)
  if ((await readDueKeys(level.db, toDuePosition(0), 1)).length > 0) ttl.enable()
  registerLevelMetrics(level, config.cacheMegabytes, registry)
  // One thread needs no shared locks: the part `commit` prevents conflicts between its own batches.
  const memory = ['0', '1'].includes(config.threads) ? undefined : createLockMemory()
  let owner = 0
  return {
    backupSource: level,
    shared: (): KvStandaloneState => ({
      share: level.share(),
      revisions: revisions.memory,
      recording: feed.memory,
      ttlMemory,
      ...(memory && { stripes: { memory, owner: ++owner } }),
    }),
    onThreadExit(shared) {
      const { share, stripes } = shared as KvStandaloneState
      void level.releaseShare(share!)
      if (stripes) releaseLocksOf(stripes.memory, stripes.owner)
      ttl.resetFirstDue()
      // The thread may have taken revisions that it did not report. Then the feed of changes has a gap.
      feed.reset()
    },
    handlers: {
      reserve: revisions.reserve,
      async setStopped(isStopped) {
        writeStopMark(config.data, isStopped)
        level.isStopped = isStopped
        log.warn(isStopped ? 'kv: all writes are refused from now on' : 'kv: writes are accepted again')
        // Every write that passed the check before is then visible, or has failed.
        await broadcast('waitUntilSettled')
      },
      ...createHandlers(feed),
    },
    async close() {
      feed.close()
      await level.close()
    },
  }
}

const createHandlers = (feed: LocalFeed) => ({
  changes: (...query: Parameters<KvStandaloneMessage['changes']>) => feed.readAfter(...query),
  recordWrites: (first: number, count: number, writes: Uint8Array) => feed.recordWrites(first, count, writes),
  recordLost: () => feed.reset(),
})
