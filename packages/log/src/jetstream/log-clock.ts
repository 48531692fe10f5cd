import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { ClockOffsets } from '../log.ts'

/**
 * Number of the latest replies that bound the clock. One arrives per second, so 8 s after a sudden change of the
 * servers' clock the bounds are right again.
 */
const MAX_REPLIES = 8

/** Resolution of the times in replies, which are truncated (ms). */
const RESOLUTION_MS = 1

/** Computes bounds of the log's clock, which is the servers' clock, from the times in their replies. */
export class LogClock {
  readonly #now: () => number
  readonly #replies: ClockOffsets[] = []
  #offsets: ClockOffsets | undefined

  /** @param now clock of this process (ms) that no change of the system time affects */
  constructor(now: () => number = steadyNow) {
    this.#now = now
  }

  /**
   * Bounds of the log's clock relative to `now` (ms): the narrowest that agree with all recent replies. Before the
   * first reply, the system clock. Computed at each reply, because every applied batch reads them.
   */
  get offsets(): ClockOffsets {
    if (this.#offsets) return this.#offsets
    const offset = Date.now() - this.#now()
    return { min: offset, max: offset }
  }

  /**
   * Adds the time in a reply. A server read its clock between the request and now, which gives both bounds.
   * @param time time in the reply (ISO 8601); ignored if it is not valid
   * @param sentAt time of the request (ms of `now`)
   */
  addReply(time: string | undefined, sentAt: number): void {
    const ms = Date.parse(time ?? '')
    if (Number.isNaN(ms)) return
    this.#replies.push({ min: ms - this.#now(), max: ms + RESOLUTION_MS - sentAt })
    if (this.#replies.length > MAX_REPLIES) this.#replies.shift()
    this.#offsets = {
      min: Math.max(...this.#replies.map(({ min }) => min)),
      max: Math.min(...this.#replies.map(({ max }) => max)),
    }
  }
}
