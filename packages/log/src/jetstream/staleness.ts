import { steadyNow } from '@influencer-stats/runtime/steady-clock'

/** As of when a view is, from what is heard of the log's end. */
export class StalenessTracker {
  readonly #now: () => number
  #lastContactAt: number
  /** The end that is waited for, and when it was heard of. */
  #pendingEnd: { readonly end: number; readonly at: number } | undefined

  constructor(now: () => number = steadyNow) {
    this.#now = now
    this.#lastContactAt = now()
  }

  /** The view had all of the log then (ms of `steadyNow`: a clock that is set would make it young). */
  get lastContactAt(): number {
    return this.#lastContactAt
  }

  /** The log ends there now, as far as anybody can tell, and the view has applied so much of it. */
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
