import { CircuitBreaker, isUpstreamWide, type Pause, type UpstreamFault } from './circuit-breaker.ts'
import { Failures, type Failure } from './failures.ts'
import { getPacedInterval, type RemainingQuota } from './quota-budget.ts'

/** One call to make: at most as many ids as a call takes. */
export interface ScheduledCall {
  readonly ids: readonly string[]
  readonly queue: 'first' | 'paced'
  /** What it tries again, if it has failed before. */
  readonly failure?: Failure
  /** Whether it finds out if YouTube answers again: no other call is made meanwhile. */
  readonly isProbe: boolean
}

type NewCall = Omit<ScheduledCall, 'isProbe'>

export interface ScheduleOptions {
  readonly idsPerCall: number
  /** Most calls at a time, in both lanes together. */
  readonly connections: number
  /** Numbers are refreshed at most this often (ms). */
  readonly minInterval: number
}

/** Where an id is: known, wanted for the first time, asked for, or among what is tried again. */
type VideoStatus = 'known' | 'first' | ScheduledCall | Failure

/** Ids that nobody waits for yet wait this long for others to share a call with (ms). */
const GATHER_MS = 50

/**
 * Decides which videos are asked for next, and when. Numbers that are wanted for the first time have a lane of their own
 * and go at once. Everything else, what has failed included, takes its turn in a lane that spreads what is left of the
 * day's quota over the rest of the day: what was tried longest ago goes first. A failure pauses both lanes: see `Circuit`.
 * What has failed is tried again no more often than all would be refreshed otherwise.
 *
 * Times are ms of a clock that is never set; the schedule has none of its own.
 */
export class Schedule {
  readonly #options: ScheduleOptions
  readonly #statuses = new Map<string, VideoStatus>()
  /** Since when numbers are known, oldest first. */
  readonly #known = new Map<string, number>()
  /** Wanted for the first time, and waited for. */
  readonly #urgent = new Set<string>()
  /** Wanted for the first time: from when on they need not wait for others any more. */
  readonly #gathering = new Map<string, number>()
  readonly #failures: Failures
  readonly #circuit = new CircuitBreaker()
  /** When the calls of the last interval began, oldest first. */
  #startTimes: number[] = []
  readonly #running = { first: 0, paced: 0 }
  readonly #maxRunning: { readonly first: number; readonly paced: number }
  readonly #started: number
  #lastPaced = -Infinity

  constructor(options: ScheduleOptions, now: number) {
    this.#options = options
    this.#started = now
    this.#failures = new Failures(options.idsPerCall)
    const first = Math.max(1, Math.floor(options.connections / 4))
    this.#maxRunning = { first, paced: Math.max(1, options.connections - first) }
  }

  /** Calls that a refresh of everything takes. */
  get calls(): number {
    return Math.ceil(this.#statuses.size / this.#options.idsPerCall)
  }

  /** How long from one refresh of an id to the next (ms). */
  getInterval(remainingQuota: RemainingQuota): number {
    return Math.max(this.#options.minInterval, getPacedInterval(remainingQuota, this.calls))
  }

  /** Takes up an id that is known since `at`; the oldest first. */
  addKnown(id: string, at: number): void {
    this.#statuses.set(id, 'known')
    this.#known.set(id, at)
    this.#lastPaced = Math.max(this.#lastPaced, at)
  }

  /** Takes up ids of which nothing is known. */
  add(ids: readonly string[], now: number): void {
    for (const id of ids) {
      this.#statuses.set(id, 'first')
      this.#gathering.set(id, now + GATHER_MS)
    }
  }

  /** Takes up ids of which nothing was known before a restart, either: they take their turns, unless they are urged. */
  resume(ids: readonly string[], now: number): void {
    this.#put(this.#failures.resume(ids, now))
  }

  /** Somebody waits for these: those that were never tried are fetched now. */
  prioritize(ids: readonly string[]): void {
    for (const id of ids) {
      const status = this.#statuses.get(id)
      if (status !== 'first' && !(isFailure(status) && status.times === 0)) continue
      this.#statuses.set(id, 'first')
      this.#gathering.delete(id)
      this.#urgent.add(id)
    }
  }

  remove(id: string): void {
    this.#statuses.delete(id)
    this.#known.delete(id)
    this.#urgent.delete(id)
    this.#gathering.delete(id)
  }

  /** The next call to make now, if there is one; whoever takes it says later what became of it. */
  next(now: number, remainingQuota: RemainingQuota): ScheduledCall | undefined {
    if (remainingQuota.left < 1 || !this.#circuit.canCall(now)) return undefined
    return this.#takeFirst(now) ?? this.#takePaced(now, remainingQuota)
  }

  #takeFirst(now: number): ScheduledCall | undefined {
    if (this.#running.first >= this.#maxRunning.first || this.#getFirstAt() > now) return undefined
    const ids: string[] = []
    for (const queue of [this.#urgent, this.#gathering]) {
      for (const id of queue.keys()) {
        if (ids.length === this.#options.idsPerCall) break
        ids.push(id)
      }
    }
    return this.#begin({ ids, queue: 'first' }, now)
  }

  #takePaced(now: number, remainingQuota: RemainingQuota): ScheduledCall | undefined {
    if (this.#running.paced >= this.#maxRunning.paced || now < this.#getNextSlot(remainingQuota)) return undefined
    const interval = this.getInterval(remainingQuota)
    const oldest = this.#oldest()
    const isDue = oldest !== undefined && oldest + interval <= now
    const retry = this.#getRetrySlot(interval) <= now ? this.#takeRetry(now, isDue ? oldest : Infinity) : undefined
    const call = retry ?? (isDue && this.#takeRefresh(now - interval / 2))
    if (!call) return undefined
    this.#lastPaced = now
    return this.#begin(call, now)
  }

  /** What has failed and was tried before `before`. */
  #takeRetry(now: number, before: number): NewCall | undefined {
    for (let failure; (failure = this.#failures.getDue(now)) && failure.triedAt <= before;) {
      this.#failures.remove(failure)
      const ids = failure.ids.filter((id) => this.#statuses.get(id) === failure)
      if (ids.length > 0) return { ids, queue: 'paced', failure }
    }
    return undefined
  }

  /** The oldest; a call costs the same however many it asks for, so it takes along all that is older than `before`. */
  #takeRefresh(before: number): NewCall {
    const ids: string[] = []
    for (const [id, at] of this.#known) {
      if (ids.length === this.#options.idsPerCall || at > before) break
      ids.push(id)
    }
    return { ids, queue: 'paced' }
  }

  /** When what has failed may be tried again: an interval has no more calls than a refresh of everything takes. */
  #getRetrySlot(interval: number): number {
    const before = this.#startTimes.at(-this.calls)
    return before === undefined ? -Infinity : before + interval
  }

  #begin(newCall: NewCall, now: number): ScheduledCall {
    const call = { ...newCall, isProbe: this.#circuit.begin() }
    this.#running[call.queue]++
    this.#startTimes.push(now)
    // Cut now and then, not each time.
    if (this.#startTimes.length > 2 * this.calls) this.#startTimes = this.#startTimes.slice(-this.calls)
    for (const id of call.ids) {
      this.#known.delete(id)
      this.#urgent.delete(id)
      this.#gathering.delete(id)
      this.#statuses.set(id, call)
    }
    return call
  }

  /** A call has given numbers. @param at when it was made */
  recordSuccess(call: ScheduledCall, at: number, now: number): void {
    this.#end(call)
    this.#circuit.recordSuccess(call.isProbe)
    this.#put(this.#failures.recordSuccess(now))
    for (const id of this.#getOwnIds(call)) {
      this.#statuses.set(id, 'known')
      this.#known.set(id, at)
    }
  }

  /** Ids of a call that has succeeded whose numbers cannot be read: they are tried again later. */
  recordUnreadable(
    ids: readonly string[],
    { failure }: ScheduledCall,
    now: number,
    remainingQuota: RemainingQuota,
    fault: UpstreamFault,
  ): void {
    const known = ids.filter((id) => this.#known.delete(id))
    if (known.length > 0) this.#addFailure(known, failure, now, remainingQuota, fault)
  }

  /** A call has failed: its ids are tried again later, each time later still. */
  recordFailure(call: ScheduledCall, now: number, remainingQuota: RemainingQuota, fault: UpstreamFault): void {
    this.#end(call)
    // While others succeed it is these ids, not YouTube.
    if (call.isProbe || isUpstreamWide(fault) || !this.#failures.haveOthersSucceeded(call.failure))
      this.#circuit.recordFailure(call.isProbe, fault, now, remainingQuota.untilReset)
    this.#addFailure(this.#getOwnIds(call), call.failure, now, remainingQuota, fault)
  }

  #addFailure(
    ids: string[],
    before: Failure | undefined,
    now: number,
    remainingQuota: RemainingQuota,
    fault: UpstreamFault,
  ): void {
    const options = { now, maxDelay: this.getInterval(remainingQuota), isAlone: this.calls <= 1 }
    this.#put(this.#failures.add(ids, before, fault, options))
  }

  /** Why no calls are made at present, if so. */
  get pause(): Pause | undefined {
    return this.#circuit.pause
  }

  /** See `Circuit`. */
  get hasSucceeded(): boolean {
    return this.#circuit.hasSucceeded
  }

  /** The API key is another one: if YouTube has refused the one before, calls go on. */
  onKeyChange(): void {
    this.#circuit.onKeyChange()
  }

  #put(failures: readonly Failure[]): void {
    for (const failure of failures) for (const id of failure.ids) this.#statuses.set(id, failure)
  }

  #end({ queue }: ScheduledCall): void {
    this.#running[queue]--
  }

  /** Those that were neither forgotten nor taken up anew since. */
  #getOwnIds(call: ScheduledCall): string[] {
    return call.ids.filter((id) => this.#statuses.get(id) === call)
  }

  /** When an id that has failed is tried again at the earliest. */
  getRetryAt(id: string, now: number, remainingQuota: RemainingQuota): number {
    const status = this.#statuses.get(id)
    if (remainingQuota.left < 1) return now + remainingQuota.untilReset
    const at = isFailure(status) ? Math.max(status.at, this.#getNextSlot(remainingQuota)) : now
    return Math.max(at, this.pause?.until ?? now)
  }

  /** When there may be a call to make, if no other ends before: `Infinity` if only then. */
  getWakeAt(now: number, remainingQuota: RemainingQuota): number {
    if (remainingQuota.left < 1) return now + remainingQuota.untilReset
    return Math.max(this.#circuit.getAllowedAt(), this.#getDueAt(remainingQuota))
  }

  #getDueAt(remainingQuota: RemainingQuota): number {
    const first = this.#running.first < this.#maxRunning.first ? this.#getFirstAt() : Infinity
    if (this.#running.paced >= this.#maxRunning.paced) return first
    const interval = this.getInterval(remainingQuota)
    const due = (this.#oldest() ?? Infinity) + interval
    const retry = Math.max(this.#getRetrySlot(interval), this.#failures.getDueAt())
    return Math.min(first, Math.max(this.#getNextSlot(remainingQuota), Math.min(due, retry)))
  }

  /** When the next call of the paced lane may go. Not right after a start: a process that keeps dying makes none. */
  #getNextSlot(remainingQuota: RemainingQuota): number {
    const wait = getPacedInterval(remainingQuota, 1)
    return Math.max(this.#lastPaced + wait, this.#started + Math.min(wait, this.#options.minInterval))
  }

  #oldest = (): number | undefined => this.#known.values().next().value

  #getFirstAt(): number {
    return this.#urgent.size > 0 ? -Infinity : (this.#gathering.values().next().value ?? Infinity)
  }
}

const isFailure = (status: VideoStatus | undefined): status is Failure =>
  typeof status === 'object' && 'times' in status
