import { getPacedInterval, type RemainingQuota } from '../core/quota-budget.ts'

export interface CallPacerOptions {
  /** Maximum number of concurrent calls, divided between the two queues. Each queue may always make one. */
  readonly connections: number
  /** Minimum interval between two refreshes (ms). */
  readonly minInterval: number
}

/** Queue of a call: see `Schedule`. */
export type CallQueue = 'first' | 'paced'

/**
 * Limits the concurrent calls of both queues, and spreads the calls of the paced queue over the day. Times are ms of a
 * monotonic clock.
 */
export class CallPacer {
  readonly #minInterval: number
  /**
   * Start times of the last calls, oldest first. If a refresh of everything takes N calls, `getRetrySlot` needs the last
   * N start times; at most 2 N are stored.
   */
  #startTimes: number[] = []
  readonly #running = { first: 0, paced: 0 }
  readonly #maxRunning: Readonly<Record<CallQueue, number>>
  readonly #started: number
  /** Start time of the last paced call, or the newest time that `advance` received. */
  #lastPaced = -Infinity

  constructor({ connections, minInterval }: CallPacerOptions, now: number) {
    this.#minInterval = minInterval
    this.#started = now
    const first = Math.max(1, Math.floor(connections / 4))
    this.#maxRunning = { first, paced: Math.max(1, connections - first) }
  }

  /** Records a refresh of an earlier process. */
  advance(at: number): void {
    this.#lastPaced = Math.max(this.#lastPaced, at)
  }

  isFull(queue: CallQueue): boolean {
    return this.#running[queue] >= this.#maxRunning[queue]
  }

  /** @param calls number of calls that a refresh of everything takes */
  begin(queue: CallQueue, now: number, calls: number): void {
    this.#running[queue]++
    if (queue === 'paced') this.#lastPaced = now
    this.#startTimes.push(now)
    // Truncated only at twice the length, not on every call.
    if (this.#startTimes.length > 2 * calls) this.#startTimes = this.#startTimes.slice(-calls)
  }

  end(queue: CallQueue): void {
    this.#running[queue]--
  }

  /**
   * Returns the time of the next slot of the paced queue. The first slot is some time after the start, so that a
   * process that crashes repeatedly makes no paced calls.
   */
  getNextSlot(remainingQuota: RemainingQuota): number {
    const wait = getPacedInterval(remainingQuota, 1)
    return Math.max(this.#lastPaced + wait, this.#started + Math.min(wait, this.#minInterval))
  }

  /**
   * Returns the earliest time of the next retry. A retry waits while the last interval contains as many calls as a refresh
   * of everything takes.
   * @param calls number of calls that a refresh of everything takes
   */
  getRetrySlot(interval: number, calls: number): number {
    const before = this.#startTimes.at(-calls)
    return before === undefined ? -Infinity : before + interval
  }
}
