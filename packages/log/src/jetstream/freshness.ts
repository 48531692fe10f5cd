import { steadyNow } from '@influencer-stats/runtime/steady-clock'

/** As of when a view is, from what is heard of the log's end. */
export class Freshness {
  readonly #now: () => number
  #asOf: number
  /** The end that is waited for, and when it was heard of. */
  #heard: { readonly end: number; readonly at: number } | undefined

  constructor(now: () => number = steadyNow) {
    this.#now = now
    this.#asOf = now()
  }

  /** The view had all of the log then (ms of `steadyNow`: a clock that is set would make it young). */
  get asOf(): number {
    return this.#asOf
  }

  /** The log ends there now, as far as anybody can tell, and the view has applied so much of it. */
  heard(end: number, applied: number): void {
    const at = this.#now()
    if (applied < end) this.#heard ??= { end, at }
    else this.#reach(at)
  }

  advanced(applied: number): void {
    if (this.#heard && applied >= this.#heard.end) this.#reach(this.#heard.at)
  }

  #reach(at: number): void {
    this.#asOf = at
    this.#heard = undefined
  }
}
