import { openSharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import type { Commit, CommitOptions, KvLevel } from './commit.ts'
import { createGate, type GateOptions } from './gate.ts'
import { createLevelScan } from './level-scan.ts'
import { createTextReader } from './level-text.ts'
import { bytesOf, type Store } from './store.ts'
import { createStripes } from './stripes.ts'

/** Data written by another version of this file is refused. */
const FORMAT = 1

const MIB = 1_024 * 1_024

type Part = Pick<SharedLevelOptions<Buffer, Buffer>, 'share' | 'log'>

export interface LevelStoreOptions extends GateOptions, Part {
  readonly folder: string
  readonly cacheMegabytes: number
  /** How writes reach it. */
  createCommit(options: CommitOptions): Promise<Commit>
  /** The locks of keys, and this thread's number, where several threads write. */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
  onCommit?(writes: number): void
}

/**
 * Opens the folder's database. All threads of one process share it; main opens it first and closes it last.
 * @throws StartError `DATA_LOCKED`, `DATA_UNWRITABLE`, `DATA_UNREADABLE`, `DATA_NEWER`
 */
export function openKvLevel(folder: string, cacheMegabytes: number, part: Part): Promise<KvLevel> {
  return openSharedLevel<Buffer, Buffer>(folder, {
    ...part,
    service: 'kv',
    format: FORMAT,
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: cacheMegabytes * MIB,
    writeBufferSize: 64 * MIB,
    maxFileSize: 16 * MIB,
  })
}

/** LevelDB in `<folder>/level`. */
export async function createLevelStore(options: LevelStoreOptions): Promise<Store> {
  const level = await openKvLevel(options.folder, options.cacheMegabytes, options)
  const { db } = level
  const gate = createGate(options)
  const stripes = options.stripes && createStripes(options.stripes.memory, options.stripes.owner)
  const { createCommit, onCommit = () => {} } = options
  const commit = await createCommit({ level, gate, stripes, onCommit })

  async function close(): Promise<void> {
    await commit.idle()
    await level.close()
  }
  let closed: Promise<void> | undefined

  return {
    queue: gate,
    fault: () => level.fault(),
    // Synchronous: 4 us on a base of 1.5 million entries, where the asynchronous one costs 31 us and competes with writes
    // for libuv's four threads. The price: a read from a cold disk holds this thread's event loop, 3 ms at the 99th
    // percentile of a burst of puts.
    get: (key) => db.getSync(key),
    find: createTextReader(db),
    write(write) {
      const fault = level.fault()
      if (fault) return Promise.reject(fault)
      const bytes = bytesOf(write)
      const waiting = gate.enter(bytes)
      return waiting ? waiting.then(() => commit.submit(write, bytes)) : commit.submit(write, bytes)
    },
    scan: (range) => createLevelScan(db, range),
    close: () => (closed ??= close()),
  }
}
