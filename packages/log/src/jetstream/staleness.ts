import { steadyNow } from '@influencer-stats/runtime/steady-clock'

/**
 * Tracks the last time at which a state machine had all entries. It compares the applied sequence with known ends of
 * the log.
 */
export class StalenessTracker {
  readonly #now: () => number
  #lastContactAt: number
  /** Known end of the log that is not applied yet, and the time at which this node learned of it. */
  #pendingEnd: { readonly end: number; readonly at: number } | undefined

  /** @param lastContactAt known time at which all entries were applied; by default now */
  constructor(now: () => number = steadyNow, lastContactAt = now()) {
    this.#now = now
    this.#lastContactAt = lastContactAt
  }

  /**
   * Last time at which all entries were applied (ms of `steadyNow`, because a change of the system clock would falsify
   * the staleness).
   */
  get lastContactAt(): number {
    return this.#lastContactAt
  }

  /** Records that the log now ends at `end`, and that the state machine has applied the entries up to `applied`. */
  recordEnd(end: number, applied: number): void {
    const at = this.#now()
    if (applied < end) this.#pendingEnd ??= { end, at }
    else this.#setContact(at)
  }

  /** Records that the state machine has applied the entries up to `applied`. */
  recordApplied(applied: number): void {
    if (this.#pendingEnd && applied >= this.#pendingEnd.end) this.#setContact(this.#pendingEnd.at)
  }

  /** Forgets the known end of the log. Called before another stream continues it. */
  resetEnd(): void {
    this.#pendingEnd = undefined
  }

  #setContact(at: number): void {
    this.#lastContactAt = at
    this.#pendingEnd = undefined
  }
}
