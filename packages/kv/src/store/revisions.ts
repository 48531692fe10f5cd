import type { SharedLevel } from '@influencer-stats/runtime/shared-level'
import { createFirstRevision } from '../core/stored-value.ts'

/**
 * The one key that is the service's own: users' keys have at least a byte, and ranges begin with one. Its value is the
 * number up to which revisions may have been given.
 */
export const POSITION_KEY = Buffer.alloc(0)

/** How many revisions are reserved at a time: 60,000 writes a second need two syncs a minute more. */
const RESERVED_REVISIONS = 2 ** 20

// The words of the memory that all threads share.
const ASSIGNED_INDEX = 0
const RESERVED_INDEX = 1

type RevisionDatabase = Pick<SharedLevel<Buffer, Buffer>, 'db' | 'write' | 'isNewHistory' | 'beginHistory'>

/** Numbers writes, over all threads: each number is given once, also after a crash or a power cut. */
export interface Revisions {
  /** Takes so many that follow each other. @returns the first; a promise of it where the disk has to be waited for */
  take(count: number): number | Promise<number>
}

/** What reserves numbers, once a process. */
export interface RevisionOwner {
  readonly memory: SharedArrayBuffer
  /** Resolves once more are reserved, and would be after a power cut. @throws DISK_FULL, STORE_FAILED */
  reserve(): Promise<void>
}

export const createRevisionsMemory = () => new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)

/** The last one that was taken, by any thread. */
export const getLastRevision = (memory: SharedArrayBuffer): number =>
  Number(Atomics.load(new BigInt64Array(memory), ASSIGNED_INDEX))

/** A sequence that nobody keeps: it begins anywhere, and needs no owner. */
export function createEphemeralRevisions(): SharedArrayBuffer {
  const memory = createRevisionsMemory()
  const words = new BigInt64Array(memory)
  words[ASSIGNED_INDEX] = BigInt(createFirstRevision())
  words[RESERVED_INDEX] = BigInt(2 ** 48)
  return memory
}

/**
 * Opens the sequence of revisions of a database. It continues after every revision that may have been used. In a restored or
 * copied folder it begins at another number, because the original may have continued, too.
 */
export async function openRevisions(level: RevisionDatabase, step = RESERVED_REVISIONS): Promise<RevisionOwner> {
  const memory = createRevisionsMemory()
  const words = new BigInt64Array(memory)
  const before = await level.db.get(POSITION_KEY)
  const last = before && Number(before.toString())
  words[ASSIGNED_INDEX] = BigInt(last === undefined || level.isNewHistory ? createFirstRevision(last) : last)

  async function reserveMore(): Promise<void> {
    const reserved = Number(Atomics.load(words, ASSIGNED_INDEX)) + step
    // Synced before any of them is given: what is lost in a power cut must not be given again.
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
  // After a fault no writes are taken, and reads go on.
  await owner.reserve().catch(() => {})
  return owner
}

/** The sequence as a thread has it. @param reserve asks the owner for more */
export function createRevisions(
  memory: SharedArrayBuffer,
  reserve: () => Promise<void>,
  step = RESERVED_REVISIONS,
): Revisions {
  const words = new BigInt64Array(memory)
  /** Up to which there were numbers when this thread looked last. */
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
      // Early, so that nobody waits. If it fails, the next one asks again.
      requestMore().catch(() => {})
      return first
    },
  }
}
