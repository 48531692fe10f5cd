import { createSingleFlight } from '@influencer-stats/runtime/async/single-flight'
import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { createFirstRevision } from './core/stored-value.ts'

/**
 * Key of the service's own row: the empty key. Keys of users have at least one byte, and a range starts at such a key,
 * so no range contains this row. Its value is the last reserved revision; in a cluster, the position of the node in the
 * log (`kv-state-machine.ts`).
 */
export const STATE_KEY = Buffer.alloc(0)

/**
 * Number of revisions that a reservation makes available. The next reservation begins when half of them are used: at
 * 60,000 writes per second about 7 syncs per minute.
 */
const RESERVED_REVISIONS = 2 ** 20

// Words of the memory that all threads share.
const ASSIGNED_INDEX = 0
const RESERVED_INDEX = 1

type RevisionDatabase = Pick<SharedLevel<Buffer, Buffer>, 'db' | 'write' | 'isNewHistory' | 'beginHistory'>

/**
 * Assigns revisions to the writes of a thread. No revision is assigned twice, not even after a crash or a power cut.
 */
export interface Revisions {
  /**
   * Takes consecutive revisions.
   * @returns the first one; a promise of it if a reservation must first be written to the disk, which may fail with
   * DISK_FULL or STORE_FAILED
   */
  take(count: number): number | Promise<number>
}

/** Reserves revisions for all threads of a process, on the main thread. */
export interface RevisionOwner {
  readonly memory: SharedArrayBuffer
  /** Resolves after further revisions are durably reserved. @throws DISK_FULL, STORE_FAILED */
  reserve(): Promise<void>
}

export const createRevisionsMemory = () => new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)

/** Returns the last revision that any thread has taken. */
export const getLastRevision = (memory: SharedArrayBuffer): number =>
  Number(Atomics.load(new BigInt64Array(memory), ASSIGNED_INDEX))

/** Creates revisions for a store without a disk. They begin at a random number, and are all reserved from the start. */
export function createEphemeralRevisions(): SharedArrayBuffer {
  const memory = createRevisionsMemory()
  const words = new BigInt64Array(memory)
  words[ASSIGNED_INDEX] = BigInt(createFirstRevision())
  words[RESERVED_INDEX] = BigInt(2 ** 48)
  return memory
}

/**
 * Opens the revisions of a database. They continue after the last one that may have been used. In a restored or copied
 * folder they begin at another number, because the original folder may have continued.
 */
export async function openRevisions(level: RevisionDatabase, step = RESERVED_REVISIONS): Promise<RevisionOwner> {
  const memory = createRevisionsMemory()
  const words = new BigInt64Array(memory)
  const before = await level.db.get(STATE_KEY)
  const last = before && Number(before.toString())
  words[ASSIGNED_INDEX] = BigInt(last === undefined || level.isNewHistory ? createFirstRevision(last) : last)

  async function reserveMore(): Promise<void> {
    const reserved = Number(Atomics.load(words, ASSIGNED_INDEX)) + step
    // The sync precedes the use of these revisions. Otherwise a power cut could lose the reservation, and the next
    // start would assign the same revisions again.
    await level.write((db) => db.put(STATE_KEY, Buffer.from(String(reserved)), { sync: true }))
    // `beginHistory` follows the write: if the process stops in between, the next start counts as a new history again,
    // and chooses another random number.
    if (level.isNewHistory) level.beginHistory()
    Atomics.store(words, RESERVED_INDEX, BigInt(reserved))
  }

  const owner: RevisionOwner = { memory, reserve: createSingleFlight(reserveMore) }
  // If this fails, the store refuses writes but serves reads.
  await owner.reserve().catch(() => {})
  return owner
}

/** Creates the access of one thread to the revisions. @param reserve requests a reservation from the main thread */
export function createRevisions(
  memory: SharedArrayBuffer,
  reserve: () => Promise<void>,
  step = RESERVED_REVISIONS,
): Revisions {
  const words = new BigInt64Array(memory)
  /** Last reserved revision that this thread knows. */
  let reserved = 0

  const readReserved = () => (reserved = Number(Atomics.load(words, RESERVED_INDEX)))
  const requestMore = createSingleFlight(reserve)

  async function wait(last: number): Promise<void> {
    while (last > readReserved()) await requestMore()
  }

  return {
    take(count) {
      const last = Number(Atomics.add(words, ASSIGNED_INDEX, BigInt(count))) + count
      const first = last - count + 1
      if (last <= reserved - step / 2 || last <= readReserved() - step / 2) return first
      if (last > reserved) return wait(last).then(() => first)
      // The reservation begins early, so that usually no write waits for it. If it fails, the next call requests it
      // again.
      requestMore().catch(() => {})
      return first
    },
  }
}
