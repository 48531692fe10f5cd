import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { parts } from '../../src/parts.ts'
import type { LevelStoreOptions } from '../../src/store/level-store.ts'
import { createTtlMemory } from '../../src/store/ttl.ts'
import { openRevisions } from '../../src/revisions.ts'
import type { KvStore } from '../../src/store/store.ts'
import { createLockMemory } from '../../src/store/key-locks.ts'
import type { WriteRecorder } from '../../src/watch/write-recorder.ts'
import { log, openTestLevel } from './level.ts'

/** A recorder without watchers. */
export const noRecorder: WriteRecorder = { recordWrites() {}, recordLost() {} }

/** Opens stores on one folder, like main and its threads. Closing the last one closes the folder. */
export async function openLevelStores(count: number, more: Partial<LevelStoreOptions> = {}): Promise<KvStore[]> {
  const folder = more.folder ?? createTemporaryFolder()
  const main = await openTestLevel(folder)
  const revisions = await openRevisions(main)
  const memory = createLockMemory()
  const ttlMemory = createTtlMemory()
  let open = count
  const openOne = async (owner: number): Promise<KvStore> => {
    const store = await parts.store.level({
      folder,
      cacheMegabytes: 8,
      createCommit: parts.commit.group,
      maxBytes: 1e7,
      maxWrites: 10_000,
      timeout: 60_000,
      log,
      share: main.share(),
      revisions,
      recorder: noRecorder,
      ttl: ttlMemory,
      ...(count > 1 && { keyLocks: { memory, owner } }),
      ...more,
    })
    let closed: Promise<void> | undefined
    const close = async () => {
      await store.close()
      if (--open === 0) await main.close()
    }
    return { ...store, close: () => (closed ??= close()) }
  }
  return Promise.all(Array.from({ length: count }, (_, i) => openOne(i + 1)))
}

/** Opens a store on a new folder. */
export async function openLevelStore(more: Partial<LevelStoreOptions> = {}): Promise<KvStore> {
  const [store] = await openLevelStores(1, more)
  return store!
}
