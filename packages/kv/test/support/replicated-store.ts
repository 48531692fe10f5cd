import { logs } from '@influencer-stats/log/parts'
import type { Log } from '@influencer-stats/log/log'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { WRITES } from '../../src/core/writes.ts'
import type { Outcomes } from '../../src/core/judge.ts'
import { parts } from '../../src/parts.ts'
import { logStateMemory, writeLogState } from '@influencer-stats/log/log-state'
import { Expiring, expiryMemory } from '../../src/store/expiries.ts'
import { expireInLog } from '../../src/store/log-expiry.ts'
import { openLogView, type LogView } from '../../src/store/log-view.ts'
import type { Store } from '../../src/store/store.ts'
import { Feed } from '../../src/watch/feed.ts'
import { log as silent, openNodeLevelOf } from './level.ts'

/** A store that writes through a log, as main and one thread of a node have it; the log is this process's own. */
export interface TestNode {
  readonly store: Store
  readonly view: LogView
  readonly log: Log
  close(): Promise<void>
}

/** @param now clock of the log (ms since 1970) */
export async function openTestNode(folder = temporaryFolder(), now = () => Date.now()): Promise<TestNode> {
  const main = await openNodeLevelOf(folder)
  const expiring = expiryMemory()
  const state = logStateMemory()
  const timed = new Expiring(expiring, now)
  const view = await openLogView(main, new Feed(1e6), timed)
  const log = await logs.local({ view, now })
  const stopExpiring = expireInLog(log, view, () => timed.now())
  const tell = () => writeLogState(state, log.state)
  tell()
  const store = await parts.replica.jetstream({
    folder,
    expiring,
    cacheMegabytes: 8,
    maxBytes: 1e7,
    maxWrites: 10_000,
    timeout: 60_000,
    log: silent,
    share: main.share(),
    line: {
      state,
      now,
      async append(writes) {
        const { seq, outcome } = await log.append<Outcomes>(WRITES, Buffer.from(writes))
        tell()
        return { sequence: seq, outcomes: outcome }
      },
      reached: (sequence) => log.reached(sequence, 10),
      barrier: async () => void (await log.barrier()),
    },
  })
  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    stopExpiring()
    await store.close()
    await log.close()
    await view.settle()
    await main.close()
  }
  return { store, view, log, close: () => (closed ??= close()) }
}

export async function openReplicatedStore(): Promise<Store> {
  const { store, close } = await openTestNode()
  return {
    ...store,
    get replica() {
      return store.replica!
    },
    close,
  }
}
