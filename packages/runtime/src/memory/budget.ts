import type { Duplex } from 'node:stream'

// What is counted with: an Int32 then reaches 2 TiB (bytes).
const UNIT_BYTES = 1_024

/** As much as is counted of so many bytes. */
export const roundToUnits = (bytes: number): number => Math.ceil(bytes / UNIT_BYTES) * UNIT_BYTES

/**
 * The bytes that a process holds for its clients at a time: bodies that are coming, replies that are not read. One number
 * for all its threads, each of which counts its own, so that what a dead one held can be forgotten.
 */
export interface Budget {
  /**
   * Returns true if the budget had room. The caller must return the same number of bytes.
   * @param max bytes that the process may then hold; by default the limit
   */
  take(bytes: number, max?: number): boolean
  release(bytes: number): void
  /** Bytes that the process may hold. */
  readonly limit: number
  /** Number of threads that share it. */
  readonly threads: number
  /** So much may one connection hold for its other requests when one more takes (bytes). */
  readonly share: number
}

// Of the whole: some clients that read nothing leave room for others.
const CONNECTION_SHARE_DIVISOR = 8

/** What the threads of a process count in. */
export const createBudgetMemory = (threads: number) => new Int32Array(new SharedArrayBuffer(4 * Math.max(1, threads)))

/** What all threads hold (bytes). */
export const sumHeldBytes = (memory: Int32Array): number => memory.reduce((sum, units) => sum + units, 0) * UNIT_BYTES

/** @param limit bytes; threads that take at the same moment may pass it by what one of them takes */
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

/** The holds of a connection: one listener, however many requests it has. */
function getHolds(connection: BudgetConnection): Set<MemoryHold> {
  if (!connection[CONNECTION_HOLDS]) connection.once('close', releaseAll)
  return (connection[CONNECTION_HOLDS] ??= new Set())
}

/** What one request holds, until its reply is sent or its connection is gone. */
export class MemoryHold {
  readonly #budget: Budget
  readonly #connection: BudgetConnection
  readonly #taken: number[] = []
  /** What it holds (bytes). */
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

  /** Gives back the first that was taken. */
  releaseFirst(): void {
    const bytes = this.#taken.shift()
    if (bytes === undefined) return
    this.total -= bytes
    this.#budget.release(bytes)
  }

  /** Gives back all. Idempotent. */
  release(): void {
    this.#connection[CONNECTION_HOLDS]?.delete(this)
    this.total = 0
    for (const bytes of this.#taken.splice(0)) this.#budget.release(bytes)
  }
}

/** What a request holds; `releaseHold` gives it back when its reply is sent. */
export const getHold = (message: BudgetMessage, budget: Budget): MemoryHold =>
  (message[REQUEST_HOLD] ??= new MemoryHold(budget, message.socket))

export const releaseHold = (message: BudgetMessage): void => message[REQUEST_HOLD]?.release()
