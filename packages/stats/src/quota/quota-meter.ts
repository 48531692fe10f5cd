import { toPacificDay } from '@influencer-stats/runtime/pacific-time'
import {
  getRemainingQuota,
  SIDE_KINDS,
  type QuotaKind,
  type QuotaUsage,
  type RemainingQuota,
  type SideKind,
  type UnitsByKind,
} from '../core/quota-budget.ts'
import { errors } from '../errors.ts'

// Indexes of the 32-bit cells: used units, their day as yyyymmdd, and the time between two refreshes (ms).
const USED_INDEX = 0
const DAY_INDEX = 1
const INTERVAL_INDEX = 2
// Units of the side calls, which the used units include. So a call for numbers changes one cell only.
const KIND_INDEXES = { channels: 3, playlistItems: 4, lookups: 5 } as const satisfies Record<SideKind, number>
const CELLS = 6

export interface QuotaMeterOptions {
  /**
   * Persists the count, so that a killed process loses no unit. Called after a unit is taken, and before the call that it
   * pays for.
   */
  readonly save?: () => Promise<void>
  readonly now?: () => number
}

/**
 * Counts the units of YouTube's daily quota over all threads, in memory that they share. When the day changes (Pacific
 * Time), the count begins at 0 again.
 */
export class QuotaMeter {
  /** Memory that all threads share. */
  readonly memory: SharedArrayBuffer
  readonly #cells: Int32Array
  /** Units per day; 0 for no limit. */
  readonly budget: number
  readonly #save: QuotaMeterOptions['save']
  readonly #now: () => number

  constructor(memory: SharedArrayBuffer, budget: number, { save, now = Date.now }: QuotaMeterOptions = {}) {
    this.memory = memory
    this.#cells = new Int32Array(memory)
    this.budget = budget
    this.#save = save
    this.#now = now
  }

  static createMemory(): SharedArrayBuffer {
    return new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT)
  }

  /** Units used since the last reset of the quota. */
  get used(): number {
    this.#resetOnNewDay()
    return Atomics.load(this.#cells, USED_INDEX)
  }

  /** Units used since the last reset of the quota, by kind of call. */
  get usedByKind(): UnitsByKind {
    const used = this.used
    const [channels, playlistItems, lookups] = SIDE_KINDS.map((kind) => this.#getUsedByKind(kind))
    const kinds = { channels: channels!, playlistItems: playlistItems!, lookups: lookups! }
    // Another thread may have counted a side call between the two reads.
    return { videos: Math.max(0, used - kinds.channels - kinds.playlistItems - kinds.lookups), ...kinds }
  }

  get remainingQuota(): RemainingQuota {
    return getRemainingQuota(this.budget, this.used, this.#now())
  }

  /** Interval at which the poller refreshes everything (ms). All threads derive staleness from it. */
  get interval(): number {
    return Atomics.load(this.#cells, INTERVAL_INDEX)
  }

  set interval(interval: number) {
    Atomics.store(this.#cells, INTERVAL_INDEX, Math.round(interval))
  }

  /**
   * Takes one unit for one call. If the count is persisted, returns a promise that resolves after that.
   * @throws Problem `UPSTREAM_UNAVAILABLE` when the day's budget is used up; also throws what `save` throws
   */
  spend(kind: QuotaKind = 'videos'): Promise<void> | undefined {
    this.#resetOnNewDay()
    const used = Atomics.add(this.#cells, USED_INDEX, 1)
    if (this.budget === 0 || used < this.budget) {
      if (kind === 'videos') return this.#save?.()
      Atomics.add(this.#cells, KIND_INDEXES[kind], 1)
      return this.#save?.().catch((fault: unknown) => {
        // `save` has refunded the unit of a call that may not begin.
        Atomics.sub(this.#cells, KIND_INDEXES[kind], 1)
        throw fault
      })
    }
    Atomics.sub(this.#cells, USED_INDEX, 1)
    throw errors.UPSTREAM_UNAVAILABLE(`the daily budget of ${this.budget} units is used up`)
  }

  /** Adds the unit of a call that never reached YouTube to the remaining quota again. */
  refund(kind: QuotaKind = 'videos'): void {
    // The counts never fall below 0: if the day has changed since `spend`, they do not include this unit.
    if (this.used > 0) Atomics.sub(this.#cells, USED_INDEX, 1)
    if (kind !== 'videos' && this.#getUsedByKind(kind) > 0) Atomics.sub(this.#cells, KIND_INDEXES[kind], 1)
  }

  toUsage(): QuotaUsage {
    const usage = { day: toPacificDay(this.#now()), used: this.used }
    const used = SIDE_KINDS.map((kind) => [kind, this.#getUsedByKind(kind)] as const).filter(([, units]) => units > 0)
    return used.length === 0 ? usage : { ...usage, kinds: Object.fromEntries(used) }
  }

  #getUsedByKind(kind: SideKind): number {
    return Atomics.load(this.#cells, KIND_INDEXES[kind])
  }

  /** Continues with a stored usage, or with that of another node, if it is of today. Otherwise begins at 0. */
  restore(usage: QuotaUsage | undefined): void {
    this.#resetOnNewDay()
    const current = usage?.day === toPacificDay(this.#now()) ? usage : undefined
    Atomics.store(this.#cells, USED_INDEX, current?.used ?? 0)
    this.#setKinds(current?.kinds)
  }

  #setKinds(kinds: QuotaUsage['kinds']): void {
    for (const kind of SIDE_KINDS) Atomics.store(this.#cells, KIND_INDEXES[kind], kinds?.[kind] ?? 0)
  }

  /** Raises the count to that of a service whose data is imported, if it is of today and larger. */
  raise({ day, used, kinds }: QuotaUsage): void {
    this.#resetOnNewDay()
    if (day !== toPacificDay(this.#now())) return
    let current = Atomics.load(this.#cells, USED_INDEX)
    while (used > current) {
      const found = Atomics.compareExchange(this.#cells, USED_INDEX, current, used)
      if (found === current) return this.#setKinds(kinds)
      current = found
    }
  }

  #resetOnNewDay(): void {
    const today = this.#getToday()
    const day = Atomics.load(this.#cells, DAY_INDEX)
    if (day === today) return
    // The thread that changes the day resets the count, except at the first use (day 0). Another thread that sees the new
    // day may read the old count for a moment.
    if (Atomics.compareExchange(this.#cells, DAY_INDEX, day, today) !== day || day === 0) return
    Atomics.store(this.#cells, USED_INDEX, 0)
    this.#setKinds(undefined)
  }

  #cachedUntil = 0
  #cachedDay = 0

  /** Returns the day as yyyymmdd. Its formatting takes microseconds, so the result is cached for a second. */
  #getToday(): number {
    const now = this.#now()
    if (now >= this.#cachedUntil || now < this.#cachedUntil - 1_000) {
      this.#cachedDay = Number(toPacificDay(now).replaceAll('-', ''))
      this.#cachedUntil = now + 1_000
    }
    return this.#cachedDay
  }
}
