import { pacificDay } from '@influencer-stats/runtime/pacific-time'
import type { Usage } from './core/pace.ts'
import { errors } from './errors.ts'

// Two 32-bit cells: units used, and the day they belong to as yyyymmdd.
const USED = 0
const DAY = 1

/**
 * Counts the units of YouTube's daily quota over all threads: a view of memory that they share. The day's first call
 * starts a new count.
 */
export class QuotaMeter {
  readonly #cells: Int32Array
  readonly #budget: number
  readonly #now: () => number

  /** @param budget units a day; 0 for no limit */
  constructor(memory: SharedArrayBuffer, budget: number, now: () => number = Date.now) {
    this.#cells = new Int32Array(memory)
    this.#budget = budget
    this.#now = now
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(8)
  }

  get budget(): number {
    return this.#budget
  }

  /** Units used since the quota was last renewed. */
  get used(): number {
    this.#turnDay()
    return Atomics.load(this.#cells, USED)
  }

  /** Takes one unit, for one call. @throws Problem `UPSTREAM_UNAVAILABLE` when the day's budget is spent */
  spend(): void {
    this.#turnDay()
    const used = Atomics.add(this.#cells, USED, 1)
    if (this.#budget === 0 || used < this.#budget) return
    Atomics.sub(this.#cells, USED, 1)
    throw errors.UPSTREAM_UNAVAILABLE(`the day's budget of ${this.#budget} units is spent`)
  }

  toUsage(): Usage {
    return { day: pacificDay(this.#now()), used: this.used }
  }

  /** Goes on from what was used before a restart, if that was today. */
  restore(usage: Usage | undefined): void {
    if (usage?.day === pacificDay(this.#now())) Atomics.add(this.#cells, USED, usage.used)
    this.#turnDay()
  }

  #turnDay(): void {
    const today = this.#today()
    const day = Atomics.load(this.#cells, DAY)
    if (day === today) return
    // Who changes the day resets the count; another thread that sees the new day finds it reset or about to be.
    if (Atomics.compareExchange(this.#cells, DAY, day, today) === day && day !== 0) Atomics.store(this.#cells, USED, 0)
  }

  #knownUntil = 0
  #known = 0

  /** Formatting a date costs microseconds: at most once a second. */
  #today(): number {
    const now = this.#now()
    if (now >= this.#knownUntil || now < this.#knownUntil - 1_000) {
      this.#known = Number(pacificDay(now).replaceAll('-', ''))
      this.#knownUntil = now + 1_000
    }
    return this.#known
  }
}
