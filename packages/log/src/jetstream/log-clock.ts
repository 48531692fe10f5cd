import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { ClockOffsets } from '../log.ts'

/** Number of replies that bound the clock. With one a second, a step of the servers' clock is followed after 8 s. */
const MAX_REPLIES = 8

/** Resolution of the times in replies, which are truncated (ms). */
const RESOLUTION_MS = 1

/** Bounds the clock of the log's servers by the times in their replies. */
export class LogClock {
  readonly #now: () => number
  readonly #replies: ClockOffsets[] = []
  #offsets: ClockOffsets | undefined

  /** @param now clock of this process that is never set (ms) */
  constructor(now: () => number = steadyNow) {
    this.#now = now
  }

  /** The narrowest bounds of the last replies; the system clock before the first. Read for every entry of the log. */
  get offsets(): ClockOffsets {
    if (this.#offsets) return this.#offsets
    const offset = Date.now() - this.#now()
    return { min: offset, max: offset }
  }

  /**
   * Adds the time in a reply. The servers wrote it after the request was sent.
   * @param time in a reply that arrives now; ignored if it is not a time
   * @param sentAt time of the request (ms of the clock of this process)
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
