import { closeLevel } from '@influencer-stats/log/level-view'
import { openNode } from '@influencer-stats/log/node'
import { createLogClock, logStateMemory, viewFolder, writeLogState } from '@influencer-stats/log/log-state'
import { StartError } from '@influencer-stats/runtime/errors'
import type { Opened } from '@influencer-stats/runtime/service'
import { WRITES } from './core/writes.ts'
import type { Outcomes } from './core/judge.ts'
import { reportLevel } from './gauges.ts'
import type { Context } from './main.ts'
import type { Shared, ToMain } from './messages.ts'
import { Expiring, expiryMemory } from './store/expiries.ts'
import { openKvLevel } from './store/level.ts'
import { expireInLog } from './store/log-expiry.ts'
import { openLogView } from './store/log-view.ts'
import { revisionsMemory } from './store/revisions.ts'
import { Feed } from './watch/feed.ts'
import { toPage } from './core/changes.ts'

/**
 * What exists once per process where it is a node of many: the log, and the base that this node makes of it.
 * @throws StartError
 */
export async function openKvNode({ config, registry, log, fail }: Context): Promise<Opened<ToMain>> {
  if (config.store !== 'level')
    throw new StartError(
      'SETTINGS_WRONG',
      `kv: --log jetstream keeps what it has in the store level, not in ${config.store}`,
    )
  const level = await openKvLevel(viewFolder(config.data), config.cacheMegabytes, { log, isReplica: true })
  const state = logStateMemory()
  try {
    const feed = new Feed(config.watchHistory)
    const expiring = expiryMemory()
    const timed = new Expiring(expiring, createLogClock(state))
    const view = await openLogView(level, feed, timed)
    const journal = await openNode({
      service: 'kv',
      config,
      registry,
      log,
      fail,
      view,
      maxBody: Math.max(config.batchLimit, config.valueLimit) + 65_536,
      onState: (now) => writeLogState(state, now),
    })
    const stopExpiring = expireInLog(journal, view, () => timed.now())
    reportLevel(level, config.cacheMegabytes, registry)
    const revisions = revisionsMemory()
    return {
      shared: (): Shared => ({ share: level.share(), revisions, expiring, logState: state }),
      threadGone: (shared) => void level.gone((shared as Shared).share!),
      handlers: {
        reserve() {},
        async append(writes, count) {
          const body = Buffer.from(writes.buffer, writes.byteOffset, writes.byteLength)
          const { seq, outcome } = await journal.append<Outcomes>(WRITES, body, count)
          return { sequence: seq, outcomes: outcome }
        },
        reached: (sequence) => journal.reached(sequence, config.sequenceWaitTimeout),
        barrier: async (waiting) => void (await journal.barrier(waiting)),
        changes: async (after, ...options) =>
          after === undefined ? toPage([], feed.upTo) : feed.after(after, ...options),
        // Its threads write nothing but by the log.
        wrote() {},
        lost() {},
      },
      async close() {
        feed.stop()
        stopExpiring()
        await journal.close()
        await closeLevel(view, level, log, 'kv')
      },
    }
  } catch (error) {
    await level.close()
    throw error
  }
}
