import { openLocalLog } from '@influencer-stats/log/local-log'
import type { Log } from '@influencer-stats/log/log'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { WRITES_KIND } from '../../src/core/encode-writes.ts'
import type { Outcomes } from '../../src/core/evaluate-writes.ts'
import { createReplicatedStore } from '../../src/cluster/replicated-store.ts'
import { createLogStateMemory, writeLogState } from '@influencer-stats/log/log-state'
import { TtlState, createTtlMemory } from '../../src/store/ttl.ts'
import { startClusterExpiry } from '../../src/cluster/cluster-expiry.ts'
import { openKvStateMachine, type KvStateMachine } from '../../src/cluster/kv-state-machine.ts'
import type { KvStore } from '../../src/store/store.ts'
import { ChangeFeed } from '../../src/watch/change-feed.ts'
import { log as silent, openNodeTestLevel } from './level.ts'

/** A store that writes through a log, like main and one thread of a node. The log is in this process. */
export interface TestNode {
  readonly store: KvStore
  readonly view: KvStateMachine
  readonly log: Log
  close(): Promise<void>
}

/** @param now clock of the log (ms since 1970) */
export async function openTestNode(folder = createTemporaryFolder(), now = () => Date.now()): Promise<TestNode> {
  const main = await openNodeTestLevel(folder)
  const ttlMemory = createTtlMemory()
  const state = createLogStateMemory()
  const ttl = new TtlState(ttlMemory, now)
  const view = await openKvStateMachine(main, new ChangeFeed(1e6), ttl)
  const log = openLocalLog({ stateMachine: view, now })
  const stopExpiring = startClusterExpiry(log, view, () => ttl.now())
  const onState = () => writeLogState(state, log.state)
  onState()
  const store = await createReplicatedStore({
    folder,
    ttlMemory,
    cacheMegabytes: 8,
    maxBytes: 1e7,
    maxWrites: 10_000,
    timeout: 60_000,
    log: silent,
    share: main.share(),
    channel: {
      state,
      now,
      async append(writes) {
        const { seq, outcome } = await log.append<Outcomes>(WRITES_KIND, Buffer.from(writes))
        onState()
        return { sequence: seq, outcomes: outcome }
      },
      waitForSequence: (sequence) => log.waitForSequence(sequence, 10),
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

export async function openReplicatedStore(): Promise<KvStore> {
  const { store, close } = await openTestNode()
  return {
    ...store,
    get replica() {
      return store.replica!
    },
    close,
  }
}
