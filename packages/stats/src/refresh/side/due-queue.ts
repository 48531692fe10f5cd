/** A failed id: the earliest time of its retry, and its number of consecutive failures. */
interface FailedId {
  readonly retryAt: number
  readonly times: number
}

const MIN_RETRY_DELAY_MS = 60_000

/**
 * Ids that are read at an interval, the id that was read longest ago first. Ids that were never read go ahead of all
 * others, until they fail once. A failed id is retried after a delay that doubles. Times are ms of a monotonic clock.
 */
export class DueQueue {
  readonly #interval: number
  /** Ids that were never read. */
  readonly #first = new Set<string>()
  /** Time of the last read of the other ids, oldest first. */
  readonly #known = new Map<string, number>()
  readonly #failed = new Map<string, FailedId>()
  /** Ids in a call, with the number of their failures before it. */
  readonly #taken = new Map<string, number>()
  /** Time of the newest read. */
  #newestAt = -Infinity

  /** @param interval time between two reads of an id (ms) */
  constructor(interval: number) {
    this.#interval = interval
  }

  get size(): number {
    return this.#first.size + this.#known.size + this.#failed.size + this.#taken.size
  }

  has(id: string): boolean {
    return this.#first.has(id) || this.#known.has(id) || this.#failed.has(id) || this.#taken.has(id)
  }

  /**
   * Adds an id that the queue does not have.
   * @param readAt time of its last read; undefined if there was none
   */
  add(id: string, readAt?: number): void {
    if (this.has(id)) return
    if (readAt === undefined) this.#first.add(id)
    else this.#insert(id, readAt)
  }

  remove(id: string): void {
    for (const ids of [this.#first, this.#known, this.#failed, this.#taken]) ids.delete(id)
  }

  /** Puts an id in front of all others, as if it was never read: its list has another page. */
  prioritize(id: string): void {
    if (!this.has(id)) return
    this.remove(id)
    this.#first.add(id)
  }

  /** True if an id waits for its first read. */
  get hasFirst(): boolean {
    return this.#first.size > 0
  }

  /** Returns the time from which an id may be read; `Infinity` without ids. */
  getDueAt(): number {
    if (this.hasFirst) return -Infinity
    const oldest = this.#known.values().next().value
    let dueAt = oldest === undefined ? Infinity : oldest + this.#interval
    for (const { retryAt } of this.#failed.values()) dueAt = Math.min(dueAt, retryAt)
    return dueAt
  }

  /**
   * Takes ids for a call. A call costs the same with more ids, so it also contains ids that are due within half of the
   * interval.
   * @param max maximum number of ids
   */
  take(max: number, now: number): string[] {
    const ids: string[] = []
    const takeId = (id: string, times: number) => {
      ids.push(id)
      this.remove(id)
      this.#taken.set(id, times)
      return ids.length === max
    }
    for (const id of this.#first) if (takeId(id, 0)) return ids
    for (const [id, { retryAt, times }] of this.#failed) if (retryAt <= now && takeId(id, times)) return ids
    for (const [id, at] of this.#known) {
      if (at + this.#interval / 2 > now) break
      if (takeId(id, 0)) return ids
    }
    return ids
  }

  /** Records that ids of a call were read at `at`. Ids that were removed during the call stay removed. */
  recordRead(ids: readonly string[], at: number): void {
    for (const id of ids) if (this.#taken.delete(id)) this.#insert(id, at)
  }

  /** Records that ids of a call could not be read. */
  recordFailure(ids: readonly string[], now: number): void {
    for (const id of ids) {
      const before = this.#taken.get(id)
      if (before === undefined) continue
      this.#taken.delete(id)
      const retryAt = now + Math.min(MIN_RETRY_DELAY_MS * 2 ** before, this.#interval)
      this.#failed.set(id, { retryAt, times: before + 1 })
    }
  }

  /** Adds an id in the order of the times. Nearly always it is the newest. */
  #insert(id: string, at: number): void {
    const newer = at >= this.#newestAt ? [] : [...this.#known].filter(([, other]) => other > at)
    for (const [other] of newer) this.#known.delete(other)
    this.#known.set(id, at)
    for (const [other, otherAt] of newer) this.#known.set(other, otherAt)
    this.#newestAt = Math.max(this.#newestAt, at)
  }
}
