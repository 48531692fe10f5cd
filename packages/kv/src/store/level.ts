import { openSharedLevel, type SharedLevelOptions } from '@influencer-stats/runtime/shared-level'
import { ownRow } from '../own-row.ts'
import type { Recorder } from '../watch/recorder.ts'
import type { Commit, CommitOptions, KvLevel, Level } from './commit.ts'
import { DUE_END, readDue, type Due } from '../core/own-keys.ts'
import { Expiring } from './expiries.ts'
import { createGate, type GateOptions } from './gate.ts'
import { createRevisions } from './revisions.ts'
import { createLevelSnapshot } from './level-snapshot.ts'
import { createLiveReader } from './live-reader.ts'
import { bytesOf, type Answer, type Store, type Write } from './store.ts'
import { createStripes } from './stripes.ts'
import { createSweeper } from './sweeper.ts'
import { fromFirstFormat } from './upgrade.ts'

/** How values are kept: since 2, behind their revisions; since 3, with keys of the service's own behind those of users. */
const FORMAT = 3

const MIB = 1_024 * 1_024

export type Part = Pick<SharedLevelOptions<Buffer, Buffer>, 'share' | 'log' | 'isReplica' | 'watchDisk'>

export interface LevelStoreOptions extends GateOptions, Part {
  readonly folder: string
  readonly cacheMegabytes: number
  /** How writes reach it. */
  createCommit(options: CommitOptions): Promise<Commit>
  /** What numbers writes, and how its owner is asked for more. */
  readonly revisions: { readonly memory: SharedArrayBuffer; reserve(): Promise<void> }
  /** The locks of keys, and this thread's number, where several threads write. */
  readonly stripes?: { readonly memory: SharedArrayBuffer; readonly owner: number }
  readonly recorder: Recorder
  /** Where all threads see whether something may expire (`expiries.ts`). */
  readonly expiring: SharedArrayBuffer
  onCommit?(writes: number): void
  /** A write that nobody waits for failed. */
  onLost?(): void
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
    ownRow,
    // What format 2 has is what format 3 has where nothing expires.
    upgrades: { 1: fromFirstFormat, async 2() {} },
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    cacheSize: cacheMegabytes * MIB,
    writeBufferSize: 64 * MIB,
    maxFileSize: 16 * MIB,
  })
}

/** Returns keys that expire, in the order of their times, from one position on and before another one. */
export async function dueIn(db: Level, position: Buffer, limit: number, end: Buffer = DUE_END): Promise<Due[]> {
  const keys = await db.keys({ gte: position, lt: end, limit, fillCache: false }).all()
  return keys.map(readDue)
}

const isRemoval = ({ ops }: Write) => ops.every(({ type }) => type === 'del')

/** LevelDB in `<folder>/level`. */
export async function createLevelStore(options: LevelStoreOptions): Promise<Store> {
  const level = await openKvLevel(options.folder, options.cacheMegabytes, options)
  const { db } = level
  const gate = createGate(options)
  const stripes = options.stripes && createStripes(options.stripes.memory, options.stripes.owner)
  const revisions = createRevisions(options.revisions.memory, options.revisions.reserve)
  const { createCommit, recorder, onCommit = () => {}, onLost = () => {} } = options
  const expiring = new Expiring(options.expiring)
  const commit = await createCommit({ level, gate, revisions, stripes, recorder, expiring, onCommit })
  const sweeper = createSweeper({ expiring, due: (...from) => dueIn(db, ...from), write, fault: () => level.fault() })

  function write<T>(one: Write, answer: Answer<T>): Promise<T> {
    const refusal = level.refusal()
    if (refusal && (level.fault() || !isRemoval(one))) return Promise.reject(refusal)
    const bytes = bytesOf(one)
    if (gate.tryEnter(bytes)) return commit.submit(one, bytes, answer)
    return gate.wait(bytes, () => commit.submit(one, bytes, answer))
  }

  function take(one: Write): boolean {
    const refusal = level.refusal()
    if (refusal) throw refusal
    const bytes = bytesOf(one)
    if (!gate.tryEnter(bytes)) return false
    void commit.submit(one, bytes, () => undefined).catch(onLost)
    return true
  }

  async function close(): Promise<void> {
    await sweeper.close()
    await commit.idle()
    await level.close()
  }
  let closed: Promise<void> | undefined

  return {
    keepsOrder: commit.keepsOrder,
    queue: gate,
    fault: () => level.refusal(),
    // Synchronous: 4 us on a base of 1.5 million entries, where the asynchronous one costs 31 us and competes with writes
    // for libuv's four threads. The price: a read from a cold disk holds this thread's event loop, 3 ms at the 99th
    // percentile of a burst of puts.
    ...createLiveReader(db, expiring),
    write,
    take,
    snapshot: () => createLevelSnapshot(db, { expiring }),
    settled: () => commit.settled(),
    close: () => (closed ??= close()),
  }
}
