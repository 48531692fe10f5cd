import { openSharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import { revisionRow } from '../revision-row.ts'
import type { WriteRecorder } from '../watch/write-recorder.ts'
import type { Commit, CommitOptions, KvLevel, KvDatabase } from './commit.ts'
import { DUE_END, decodeDueKey, type DueKey } from '../core/internal-keys.ts'
import { TtlState } from './ttl.ts'
import { createWriteLimiter, type WriteLimiterOptions } from './write-limiter.ts'
import { createRevisions } from '../revisions.ts'
import { createLevelSnapshot } from './level-read-snapshot.ts'
import { createLiveReader } from './live-reader.ts'
import { getWriteBytes, type KvReply, type KvStore, type KvWrite } from './store.ts'
import { createKeyLocks } from './key-locks.ts'
import { createSweeper } from './sweeper.ts'
import { upgradeFromFirstFormat } from './upgrade-format.ts'

/**
 * Version of the storage format. Since version 2, a revision precedes each value. Since version 3, there are internal
 * keys after the keys of users.
 */
const FORMAT_VERSION = 3

const MIB = 1_024 * 1_024

export type LevelShareOptions = Pick<SharedLevelOptions<Buffer, Buffer>, 'share' | 'log' | 'isReplica' | 'watchDisk'>

export interface LevelStoreOptions extends WriteLimiterOptions, LevelShareOptions {
  readonly folder: string
  readonly cacheMegabytes: number
  /** Creates the part that writes batches to LevelDB. */
  createCommit(options: CommitOptions): Promise<Commit>
  /** Shared memory of the counter of revisions, and the request to the main thread to reserve more. */
  readonly revisions: { readonly memory: SharedArrayBuffer; reserve(): Promise<void> }
  /** Shared memory of the locks, and the number of this thread as their owner; absent if one thread writes. */
  readonly keyLocks?: { readonly memory: SharedArrayBuffer; readonly owner: number }
  readonly recorder: WriteRecorder
  /** State of values that expire, shared by all threads (`ttl.ts`). */
  readonly ttl: SharedArrayBuffer
  /** Called after LevelDB has written a batch, with the number of its writes. */
  onCommit?(writes: number): void
  /** Called when a write that `tryEnqueue` accepted has failed. */
  onLostWrite?(): void
}

/**
 * Opens the database of a folder. All threads of a process share it. The main thread opens it first and closes it last.
 * @throws StartError with a code `DATA_...`: see `openLevel`
 */
export function openKvLevel(folder: string, cacheMegabytes: number, part: LevelShareOptions): Promise<KvLevel> {
  return openSharedLevel<Buffer, Buffer>(folder, {
    ...part,
    service: 'kv',
    format: FORMAT_VERSION,
    ownRow: revisionRow,
    // Data of format 2 is also valid in format 3: it has no internal keys.
    upgrades: { 1: upgradeFromFirstFormat, async 2() {} },
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: cacheMegabytes * MIB,
    writeBufferSize: 64 * MIB,
    maxFileSize: 16 * MIB,
  })
}

/** Resolves with keys that expire, in the order of their expiry times, from one position to another (exclusive). */
export async function readDueKeys(
  db: KvDatabase,
  position: Buffer,
  limit: number,
  end: Buffer = DUE_END,
): Promise<DueKey[]> {
  const keys = await db.keys({ gte: position, lt: end, limit, fillCache: false }).all()
  return keys.map(decodeDueKey)
}

const isRemoval = ({ ops }: KvWrite) => ops.every(({ type }) => type === 'del')

/** Creates the store that uses LevelDB, in `<folder>/level`. */
export async function createLevelStore(options: LevelStoreOptions): Promise<KvStore> {
  const level = await openKvLevel(options.folder, options.cacheMegabytes, options)
  const { db } = level
  const limiter = createWriteLimiter(options)
  const keyLocks = options.keyLocks && createKeyLocks(options.keyLocks.memory, options.keyLocks.owner)
  const revisions = createRevisions(options.revisions.memory, options.revisions.reserve)
  const { createCommit, recorder, onCommit = () => {}, onLostWrite = () => {} } = options
  const ttl = new TtlState(options.ttl)
  const commit = await createCommit({ level, limiter, revisions, keyLocks, recorder, ttl, onCommit })
  const sweeper = createSweeper({
    ttl,
    readDueKeys: (...query) => readDueKeys(db, ...query),
    write,
    getFault: () => (level.isStopped ? level.getRefusal() : level.getFault()),
  })

  function write<T>(single: KvWrite, toReply: KvReply<T>): Promise<T> {
    const refusal = level.getRefusal()
    if (refusal && (level.isStopped || level.getFault() || !isRemoval(single))) return Promise.reject(refusal)
    const bytes = getWriteBytes(single)
    if (limiter.tryEnter(bytes)) return commit.submit(single, bytes, toReply)
    return limiter.enter(bytes, () =>
      // The operator may have stopped writes while this one was queued.
      level.isStopped ? Promise.reject(level.getRefusal()!) : commit.submit(single, bytes, toReply),
    )
  }

  function tryEnqueue(single: KvWrite): boolean {
    const refusal = level.getRefusal()
    if (refusal) throw refusal
    const bytes = getWriteBytes(single)
    if (!limiter.tryEnter(bytes)) return false
    void commit.submit(single, bytes, () => undefined).catch(onLostWrite)
    return true
  }

  async function close(): Promise<void> {
    await sweeper.close()
    await commit.waitUntilIdle()
    await level.close()
  }
  let closed: Promise<void> | undefined

  return {
    isOrdered: commit.isOrdered,
    queue: limiter,
    getFault: () => level.getRefusal(),
    // Reads are synchronous: 4 us in a database of 1.5 million entries. An asynchronous read costs 31 us and competes
    // with writes for libuv's four threads. The disadvantage: a read from a cold disk blocks this thread's event loop.
    // During a burst of puts, it blocks for 3 ms at the 99th percentile.
    ...createLiveReader(db, ttl),
    write,
    tryEnqueue,
    snapshot: () => createLevelSnapshot(db, { ttl }),
    waitUntilSettled: () => commit.waitUntilSettled(),
    close: () => (closed ??= close()),
  }
}
