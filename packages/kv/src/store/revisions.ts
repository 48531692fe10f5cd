import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { createFirstRevision } from '../core/stored-value.ts'

/**
 * The empty key, which belongs to the service: keys of users have at least one byte, and ranges begin with one. Its
 * value is the number up to which revisions may have been assigned.
 */
export const POSITION_KEY = Buffer.alloc(0)

/** Number of revisions per reservation: 60,000 writes per second need two more syncs per minute. */
const RESERVED_REVISIONS = 2 ** 20

// Words of the memory that all threads share.
const ASSIGNED_INDEX = 0
const RESERVED_INDEX = 1

type RevisionDatabase = Pick<SharedLevel<Buffer, Buffer>, 'db' | 'write' | 'isNewHistory' | 'beginHistory'>

/** Numbers the writes of all threads. Each number is assigned once, also after a crash or a power cut. */
export interface Revisions {
  /** Takes consecutive numbers. @returns the first; a promise of it if the reservation must wait for the disk */
  take(count: number): number | Promise<number>
}

/** Reserves numbers. Each process has one. */
export interface RevisionOwner {
  readonly memory: SharedArrayBuffer
  /** Resolves once more numbers are reserved, durably. @throws DISK_FULL, STORE_FAILED */
  reserve(): Promise<void>
}

export const createRevisionsMemory = () => new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)

/** Returns the last number that any thread has taken. */
export const getLastRevision = (memory: SharedArrayBuffer): number =>
  Number(Atomics.load(new BigInt64Array(memory), ASSIGNED_INDEX))

/** Creates a sequence that is not persisted. It begins at a random number, and needs no owner. */
export function createEphemeralRevisions(): SharedArrayBuffer {
  const memory = createRevisionsMemory()
  const words = new BigInt64Array(memory)
  words[ASSIGNED_INDEX] = BigInt(createFirstRevision())
  words[RESERVED_INDEX] = BigInt(2 ** 48)
  return memory
}

/**
 * Opens the sequence of revisions of a database. It continues after every revision that may have been used. In a
 * restored or copied folder it begins at another number, because the original may have continued, too.
 */
export async function openRevisions(level: RevisionDatabase, step = RESERVED_REVISIONS): Promise<RevisionOwner> {
  const memory = createRevisionsMemory()
  const words = new BigInt64Array(memory)
  const before = await level.db.get(POSITION_KEY)
  const last = before && Number(before.toString())
  words[ASSIGNED_INDEX] = BigInt(last === undefined || level.isNewHistory ? createFirstRevision(last) : last)

  async function reserveMore(): Promise<void> {
    const reserved = Number(Atomics.load(words, ASSIGNED_INDEX)) + step
    // Synced before any of them is assigned: a number that a power cut loses must not be assigned again.
    await level.write((db) => db.put(POSITION_KEY, Buffer.from(String(reserved)), { sync: true }))
    // Only after the write: a start that is interrupted before it begins at yet another number.
    if (level.isNewHistory) level.beginHistory()
    Atomics.store(words, RESERVED_INDEX, BigInt(reserved))
  }

  let reserving: Promise<void> | undefined
  const owner: RevisionOwner = {
    memory,
    reserve: () => (reserving ??= reserveMore().finally(() => (reserving = undefined))),
  }
  // After a fault the store refuses writes and serves reads.
  await owner.reserve().catch(() => {})
  return owner
}

/** Creates the access of one thread to the sequence. @param reserve requests more numbers from the owner */
export function createRevisions(
  memory: SharedArrayBuffer,
  reserve: () => Promise<void>,
  step = RESERVED_REVISIONS,
): Revisions {
  const words = new BigInt64Array(memory)
  /** Last reserved number that this thread knows. */
  let reserved = 0
  let reserving: Promise<void> | undefined

  const readReserved = () => (reserved = Number(Atomics.load(words, RESERVED_INDEX)))
  const requestMore = () => (reserving ??= reserve().finally(() => (reserving = undefined)))

  async function wait(last: number): Promise<void> {
    while (last > readReserved()) await requestMore()
  }

  return {
    take(count) {
      const last = Number(Atomics.add(words, ASSIGNED_INDEX, BigInt(count))) + count
      const first = last - count + 1
      if (last <= reserved - step / 2 || last <= readReserved() - step / 2) return first
      if (last > reserved) return wait(last).then(() => first)
      // Early, so that no write waits. If it fails, the next call requests more again.
      requestMore().catch(() => {})
      return first
    },
  }
}
