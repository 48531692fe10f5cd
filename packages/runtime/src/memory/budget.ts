import type { Duplex } from 'node:stream'

// Unit of the counters (bytes). An Int32 counts up to 2 TiB in this unit.
const UNIT_BYTES = 1_024

/** Rounds bytes up to whole units. */
export const roundToUnits = (bytes: number): number => Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES

/**
 * The bytes that a process holds for its clients: bodies, queued writes, and unread replies and streams. All threads
 * share one limit. Each thread counts its own bytes, so that the bytes of a thread that has died can be discarded.
 */
export interface Budget {
  /**
   * Takes bytes from the budget. Returns false if the limit does not allow them; otherwise the caller must release the
   * same number later.
   * @param max largest number of bytes that the process may hold, including these bytes; default: `limit`
   */
  take(bytes: number, max?: number): boolean
  release(bytes: number): void
  /** Bytes that the process may hold. */
  readonly limit: number
  /** Number of threads that share the limit. */
  readonly threads: number
  /** A request gets no memory while the other requests of its connection hold more than this (bytes). */
  readonly maxPerConnection: number
}

// The limit divided by this number is `maxPerConnection`, so that a few clients that read nothing leave memory for
// others.
const CONNECTION_SHARE_DIVISOR = 8

/** Creates the counters of the threads of a process. */
export const createBudgetMemory = (threads: number) => new Int32Array(new SharedArrayBuffer(4 * Math.max(1, threads)))

/** Returns the bytes that all threads hold. */
export const sumHeldBytes = (memory: Int32Array): number => memory.reduce((sum, units) => sum + units, 0) * UNIT_BYTES

/**
 * Creates a thread's access to the budget.
 * @param memory result of `createBudgetMemory`
 * @param thread index of the thread
 * @param limit bytes; if threads take at the same moment, all of them may be refused, although one take would fit
 */
export function createBudget(memory: Int32Array, thread: number, limit: number): Budget {
  const toUnits = (bytes: number) => Math.ceil(bytes / UNIT_BYTES)
  return {
    limit,
    threads: memory.length,
    maxPerConnection: limit / CONNECTION_SHARE_DIVISOR,
    take(bytes, max = limit) {
      const units = toUnits(bytes)
      Atomics.add(memory, thread, units)
      if (sumHeldBytes(memory) <= max) return true
      Atomics.sub(memory, thread, units)
      return false
    },
    release: (bytes) => void Atomics.sub(memory, thread, toUnits(bytes)),
  }
}

const CONNECTION_HOLDS = Symbol('holds')
const REQUEST_HOLD = Symbol('hold')

/** A connection, with the memory holds of its requests. */
interface BudgetConnection extends Duplex {
  [CONNECTION_HOLDS]?: Set<MemoryHold>
}

interface BudgetMessage {
  readonly socket: BudgetConnection
  [REQUEST_HOLD]?: MemoryHold
}

function releaseAll(this: BudgetConnection): void {
  for (const hold of this[CONNECTION_HOLDS]!) hold.release()
}

/** Returns the holds of a connection. One `close` listener releases all of them. */
function getHolds(connection: BudgetConnection): Set<MemoryHold> {
  if (!connection[CONNECTION_HOLDS]) connection.once('close', releaseAll)
  return (connection[CONNECTION_HOLDS] ??= new Set())
}

/** Memory that one request holds, until its reply is sent or its connection is closed. */
export class MemoryHold {
  readonly #budget: Budget
  readonly #connection: BudgetConnection
  readonly #taken: number[] = []
  /** Bytes held. */
  total = 0

  constructor(budget: Budget, connection: BudgetConnection) {
    this.#budget = budget
    this.#connection = connection
  }

  /**
   * Takes bytes for this request. Returns false if the connection is closed, if its other requests hold too much, or if
   * the budget is full.
   */
  take(bytes: number): boolean {
    if (this.#connection.destroyed) return false
    const all = getHolds(this.#connection)
    let otherBytes = 0
    for (const hold of all) if (hold !== this) otherBytes += hold.total
    if (otherBytes > this.#budget.maxPerConnection || !this.#budget.take(bytes)) return false
    all.add(this)
    this.#taken.push(bytes)
    this.total += bytes
    return true
  }

  /** Releases the bytes of the oldest `take`. */
  releaseFirst(): void {
    const bytes = this.#taken.shift()
    if (bytes === undefined) return
    this.total -= bytes
    this.#budget.release(bytes)
  }

  /** Releases all bytes of this request. Idempotent. */
  release(): void {
    this.#connection[CONNECTION_HOLDS]?.delete(this)
    this.total = 0
    for (const bytes of this.#taken.splice(0)) this.#budget.release(bytes)
  }
}

/** Returns the hold of a request. `releaseHold` releases its memory when the reply is sent. */
export const getHold = (message: BudgetMessage, budget: Budget): MemoryHold =>
  (message[REQUEST_HOLD] ??= new MemoryHold(budget, message.socket))

export const releaseHold = (message: BudgetMessage): void => message[REQUEST_HOLD]?.release()
