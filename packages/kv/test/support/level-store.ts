import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { parts } from '../../src/parts.ts'
import type { LevelStoreOptions } from '../../src/store/level.ts'
import { expiryMemory } from '../../src/store/expiries.ts'
import { openRevisions } from '../../src/store/revisions.ts'
import type { Store } from '../../src/store/store.ts'
import { stripesMemory } from '../../src/store/stripes.ts'
import type { Recorder } from '../../src/watch/recorder.ts'
import { log, openLevelOf } from './level.ts'

/** Nobody watches. */
export const noRecorder: Recorder = { wrote() {}, lost() {} }

/** Opens so many stores on one folder, as main and that many threads do. Closing the last one closes the folder. */
export async function openLevelStores(count: number, more: Partial<LevelStoreOptions> = {}): Promise<Store[]> {
  const folder = more.folder ?? temporaryFolder()
  const main = await openLevelOf(folder)
  const revisions = await openRevisions(main)
  const memory = stripesMemory()
  const expiring = expiryMemory()
  let open = count
  const openOne = async (owner: number): Promise<Store> => {
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
      expiring,
      ...(count > 1 && { stripes: { memory, owner } }),
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

/** Opens a store on a folder of its own. */
export async function openLevelStore(more: Partial<LevelStoreOptions> = {}): Promise<Store> {
  const [store] = await openLevelStores(1, more)
  return store!
}
