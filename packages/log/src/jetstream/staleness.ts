import { steadyNow } from '@influencer-stats/runtime/steady-clock'

/** Tracks the last time at which a state machine had all entries, from reports of the end of the log. */
export class StalenessTracker {
  readonly #now: () => number
  #lastContactAt: number
  /** Reported end that is not applied yet, and the time of the report. */
  #pendingEnd: { readonly end: number; readonly at: number } | undefined

  constructor(now: () => number = steadyNow) {
    this.#now = now
    this.#lastContactAt = now()
  }

  /** Last time with all entries applied (ms of `steadyNow`, as a change of the system clock would falsify the age). */
  get lastContactAt(): number {
    return this.#lastContactAt
  }

  /** Records that the log now ends at `end` and the state machine has applied entries up to `applied`. */
  pendingEnd(end: number, applied: number): void {
    const at = this.#now()
    if (applied < end) this.#pendingEnd ??= { end, at }
    else this.#setContact(at)
  }

  recordApplied(applied: number): void {
    if (this.#pendingEnd && applied >= this.#pendingEnd.end) this.#setContact(this.#pendingEnd.at)
  }

  #setContact(at: number): void {
    this.#lastContactAt = at
    this.#pendingEnd = undefined
  }
}
