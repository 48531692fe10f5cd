import type { Duplex } from 'node:stream'

// Unit of the counters (bytes). With it, an Int32 reaches 2 TiB.
const UNIT_BYTES = 1_024

/** Rounds bytes up to whole units. */
export const roundToUnits = (bytes: number): number => Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES

/**
 * The bytes that a process holds for its clients: incoming bodies and unread replies. All threads share one limit. Each
 * thread counts its own bytes, so that the bytes of a thread that has died can be discarded.
 */
export interface Budget {
  /**
   * Returns true if the limit allows these bytes. The caller must release the same number.
   * @param max bytes that the process may then hold; by default the limit
   */
  take(bytes: number, max?: number): boolean
  release(bytes: number): void
  /** Bytes that the process may hold. */
  readonly limit: number
  /** Number of threads that share it. */
  readonly threads: number
  /** A connection whose other requests hold more than this gets no more (bytes). */
  readonly share: number
}

// A part of the limit, so that a few clients that read nothing leave memory for others.
const CONNECTION_SHARE_DIVISOR = 8

/** Creates the counters of the threads of a process. */
export const createBudgetMemory = (threads: number) => new Int32Array(new SharedArrayBuffer(4 * Math.max(1, threads)))

/** Returns the bytes that all threads hold. */
export const sumHeldBytes = (memory: Int32Array): number => memory.reduce((sum, units) => sum + units, 0) * UNIT_BYTES

/**
 * @param limit bytes; if threads take at the same moment, the total may exceed it by the amount that one of them takes
 */
export function createBudget(memory: Int32Array, thread: number, limit: number): Budget {
  const toUnits = (bytes: number) => Math.ceil(bytes / UNIT_BYTES)
  return {
    limit,
    threads: memory.length,
    share: limit / CONNECTION_SHARE_DIVISOR,
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

/** A connection, with what its requests hold. */
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

/** Returns the holds of a connection. One listener serves all of its requests. */
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

  take(bytes: number): boolean {
    if (this.#connection.destroyed) return false
    const all = getHolds(this.#connection)
    let otherBytes = 0
    for (const hold of all) if (hold !== this) otherBytes += hold.total
    if (otherBytes > this.#budget.share || !this.#budget.take(bytes)) return false
    all.add(this)
    this.#taken.push(bytes)
    this.total += bytes
    return true
  }

  /** Releases the oldest amount. */
  releaseFirst(): void {
    const bytes = this.#taken.shift()
    if (bytes === undefined) return
    this.total -= bytes
    this.#budget.release(bytes)
  }

  /** Releases everything. Idempotent. */
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
