import type { Duplex } from 'node:stream'

// What is counted with: an Int32 then reaches 2 TiB (bytes).
const UNIT = 1_024

/** As much as is counted of so many bytes. */
export const wholeUnits = (bytes: number): number => Math.ceil(bytes / UNIT) * UNIT

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
  give(bytes: number): void
  /** Bytes that the process may hold. */
  readonly limit: number
  /** Number of threads that share it. */
  readonly threads: number
  /** So much may one connection hold for its other requests when one more takes (bytes). */
  readonly share: number
}

// Of the whole: some clients that read nothing leave room for others.
const CONNECTIONS_SHARE = 8

/** What the threads of a process count in. */
export const budgetMemory = (threads: number) => new Int32Array(new SharedArrayBuffer(4 * Math.max(1, threads)))

/** What all threads hold (bytes). */
export const heldBytes = (memory: Int32Array): number => memory.reduce((sum, units) => sum + units, 0) * UNIT

/** @param limit bytes; threads that take at the same moment may pass it by what one of them takes */
export function createBudget(memory: Int32Array, thread: number, limit: number): Budget {
  const unitsOf = (bytes: number) => Math.ceil(bytes / UNIT)
  return {
    limit,
    threads: memory.length,
    share: limit / CONNECTIONS_SHARE,
    take(bytes, max = limit) {
      const units = unitsOf(bytes)
      Atomics.add(memory, thread, units)
      if (heldBytes(memory) <= max) return true
      Atomics.sub(memory, thread, units)
      return false
    },
    give: (bytes) => void Atomics.sub(memory, thread, unitsOf(bytes)),
  }
}

const HOLDS = Symbol('holds')
const HOLD = Symbol('hold')

/** A connection, with what its requests hold. */
interface Connection extends Duplex {
  [HOLDS]?: Set<Hold>
}

interface Message {
  readonly socket: Connection
  [HOLD]?: Hold
}

function releaseAll(this: Connection): void {
  for (const hold of this[HOLDS]!) hold.release()
}

/** The holds of a connection: one listener, however many requests it has. */
function holdsOf(connection: Connection): Set<Hold> {
  if (!connection[HOLDS]) connection.once('close', releaseAll)
  return (connection[HOLDS] ??= new Set())
}

/** What one request holds, until its reply is sent or its connection is gone. */
export class Hold {
  readonly #budget: Budget
  readonly #connection: Connection
  readonly #taken: number[] = []
  /** What it holds (bytes). */
  total = 0

  constructor(budget: Budget, connection: Connection) {
    this.#budget = budget
    this.#connection = connection
  }

  take(bytes: number): boolean {
    if (this.#connection.destroyed) return false
    const all = holdsOf(this.#connection)
    let others = 0
    for (const hold of all) if (hold !== this) others += hold.total
    if (others > this.#budget.share || !this.#budget.take(bytes)) return false
    all.add(this)
    this.#taken.push(bytes)
    this.total += bytes
    return true
  }

  /** Gives back the first that was taken. */
  giveFirst(): void {
    const bytes = this.#taken.shift()
    if (bytes === undefined) return
    this.total -= bytes
    this.#budget.give(bytes)
  }

  /** Gives back all. Idempotent. */
  release(): void {
    this.#connection[HOLDS]?.delete(this)
    this.total = 0
    for (const bytes of this.#taken.splice(0)) this.#budget.give(bytes)
  }
}

/** What a request holds; `releaseHold` gives it back when its reply is sent. */
export const holdOf = (message: Message, budget: Budget): Hold => (message[HOLD] ??= new Hold(budget, message.socket))

export const releaseHold = (message: Message): void => message[HOLD]?.release()
