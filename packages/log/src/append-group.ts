import type { EntryDecision } from './order/sequencer.ts'
import { getEntrySize, type FrameEntry } from './order/frame.ts'
import { createLeaseLostError, createUnavailableError } from './errors.ts'
import type { AppendResult } from './log.ts'

interface AppendWaiter {
  resolve(appended: AppendResult<any>): void
  reject(error: unknown): void
}

/**
 * Entries and barriers of one frame. They share one sequence in the log, and all their callers get results together.
 */
export class AppendGroup {
  readonly entries: FrameEntry[] = []
  bytes = 0
  /** Number of callers that wait for the group. */
  waiterCount = 0
  /** True once every caller has a result or an error. */
  isSettled = false
  /** Time of the first append or barrier (ms of `performance.now`). */
  readonly createdAt = performance.now()
  readonly #waiters: AppendWaiter[] = []
  readonly #barriers: AppendWaiter[] = []
  readonly #settled = Promise.withResolvers<void>()

  /** Adds an entry. @param waiters number of callers that wait for the entry */
  append(entry: FrameEntry, waiters = 1): Promise<AppendResult<any>> {
    this.waiterCount += waiters
    this.entries.push(entry)
    this.bytes += getEntrySize(entry)
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  /** Adds a barrier. Resolves with the sequence of the group. @param waiters number of callers that wait for it */
  barrier(waiters = 1): Promise<number> {
    this.waiterCount += waiters
    return new Promise((resolve, reject) => this.#barriers.push({ resolve: ({ seq }) => resolve(seq), reject }))
  }

  /** Resolves once every caller has a result or an error. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  /**
   * Gives every caller its result.
   * @param decisions one for each entry
   * @param outcomes of the entries that the state machine applied, in their order
   */
  settle(seq: number, decisions: readonly EntryDecision[], outcomes: readonly unknown[]): void {
    let applied = 0
    for (const [i, decision] of decisions.entries()) {
      const { resolve, reject } = this.#waiters[i]!
      if (decision.kind === 'fenced') reject(createLeaseLostError())
      else resolve({ seq, outcome: decision.kind === 'lease' ? decision.lease : outcomes[applied++] })
    }
    for (const { resolve } of this.#barriers) resolve({ seq, outcome: undefined })
    this.#end()
  }

  /** Rejects every caller: entries with `error`, barriers with LOG_UNAVAILABLE. */
  fail(error: unknown): void {
    for (const { reject } of this.#waiters) reject(error)
    // A barrier changes nothing, so its outcome is never unknown.
    for (const { reject } of this.#barriers) reject(createUnavailableError(error))
    this.#end()
  }

  #end(): void {
    this.isSettled = true
    this.#settled.resolve()
  }
}
