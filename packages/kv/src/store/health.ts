import { errors } from '../errors.ts'
import type { Problem } from '@influencer-stats/runtime/problems'

const WELL = 0
const DISK_FULL = 1
const FAILED = 2

/** Whether the database takes writes; shared by all threads. */
export interface Health {
  /** Why it takes none. */
  fault(): Problem | undefined
  /** A write has failed: none is taken any more. Gives the problem to answer with. */
  fail(error: unknown): Problem
}

export const healthMemory = () => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)

// What LevelDB says of ENOSPC, EDQUOT and EFBIG.
const NO_ROOM = /No space left|quota exceeded|File too large/i

/**
 * After a failed write LevelDB's log may end in half a record. What is written behind it would be acknowledged and not
 * be found again at the next start, so nothing is, on any thread, until the database has been opened anew.
 */
export function createHealth(memory: SharedArrayBuffer): Health {
  const word = new Int32Array(memory)
  const problem = (kind: number, cause?: unknown) =>
    kind === DISK_FULL ? errors.DISK_FULL(undefined, { cause }) : errors.STORE_FAILED(undefined, { cause })

  return {
    fault() {
      const kind = Atomics.load(word, 0)
      return kind === WELL ? undefined : problem(kind)
    },
    fail(error) {
      const { message, cause } = error as Error & { cause?: Error }
      const kind = NO_ROOM.test(`${message} ${cause?.message}`) ? DISK_FULL : FAILED
      Atomics.compareExchange(word, 0, WELL, kind)
      return problem(kind, error)
    },
  }
}
