import { CircuitBreaker, isUpstreamWide, type UpstreamFault } from '../core/circuit-breaker.ts'
import { CallPacer, type CallPacerOptions, type CallQueue } from './call-pacer.ts'
import { Failures, type Failure } from './failures.ts'
import { computeRefreshInterval, type RemainingQuota } from '../core/quota-budget.ts'

/** A call to make, with at most `idsPerCall` ids. */
export interface ScheduledCall {
  readonly ids: readonly string[]
  readonly queue: CallQueue
  /** The failure that this call retries. */
  readonly failure?: Failure
  /** True if the call probes whether YouTube responds again: no other call is made meanwhile. */
  readonly isProbe: boolean
}

type NewCall = Omit<ScheduledCall, 'isProbe'>

export interface ScheduleOptions extends CallPacerOptions {
  readonly idsPerCall: number
}

/**
 * Status of an id: its last call succeeded (`known`), it waits for its first call (`first`), it is in a call, or it waits
 * for a retry.
 */
type VideoStatus = 'known' | 'first' | ScheduledCall | Failure

/** Time that new ids wait for others to share a call, unless a request waits for them (ms). */
const GATHER_MS = 50

/**
 * Decides which videos are requested next, and when. New videos have their own queue (`first`), without pacing, for their
 * first call. All other ids, failed ones included, are in the paced queue. It spreads the remaining quota over the rest
 * of the day, and the id that was tried longest ago goes first. A failure pauses both queues: see `CircuitBreaker`.
 * Retries are no more frequent than refreshes of everything would be. Times are ms of a monotonic clock. The schedule
 * has no clock itself.
 */
export class Schedule {
  readonly #options: ScheduleOptions
  readonly #statuses = new Map<string, VideoStatus>()
  /** Request time of the numbers of the ids with status `known`, oldest first. */
  readonly #known = new Map<string, number>()
  /** Ids without numbers for which a request waits. */
  readonly #urgent = new Set<string>()
  /** Ids without numbers, with the time until which they wait for other ids to share their call. */
  readonly #gathering = new Map<string, number>()
  readonly #failures: Failures
  /** Pauses both queues after failures. */
  readonly circuit = new CircuitBreaker()
  readonly #pacer: CallPacer

  constructor(options: ScheduleOptions, now: number) {
    this.#options = options
    this.#pacer = new CallPacer(options, now)
    this.#failures = new Failures(options.idsPerCall)
  }

  /** Number of calls that a refresh of everything takes. */
  get calls(): number {
    return Math.ceil(this.#statuses.size / this.#options.idsPerCall)
  }

  /** Returns the time between two refreshes of an id (ms). */
  getInterval(remainingQuota: RemainingQuota): number {
    return computeRefreshInterval(remainingQuota, this.calls, this.#options.minInterval)
  }

  /**
   * Adds the ids that are known at a start.
   * @param times request time of the numbers of each id; undefined without numbers
   */
  load(times: readonly (readonly [id: string, at: number | undefined])[], now: number): void {
    const known = times.filter((one): one is readonly [string, number] => one[1] !== undefined)
    for (const [id, at] of known.toSorted((a, b) => a[1] - b[1])) this.addKnown(id, at)
    const unknown = times.filter(([, at]) => at === undefined).map(([id]) => id)
    this.resume(unknown, now)
  }

  /** Adds an id whose numbers were requested at `at`. Ids must be added in ascending order of `at`. */
  addKnown(id: string, at: number): void {
    this.#statuses.set(id, 'known')
    this.#known.set(id, at)
    this.#pacer.advance(at)
  }

  /** Adds ids without numbers. */
  add(ids: readonly string[], now: number): void {
    for (const id of ids) {
      this.#statuses.set(id, 'first')
      this.#gathering.set(id, now + GATHER_MS)
    }
  }

  /**
   * Adds ids without numbers at a start. Calls for them may have failed before a restart, so they use the paced queue
   * unless they are prioritized.
   */
  resume(ids: readonly string[], now: number): void {
    this.#put(this.#failures.resume(ids, now))
  }

  /** Moves ids for which a request waits to the front, if this process has not tried them yet. */
  prioritize(ids: readonly string[]): void {
    for (const id of ids) {
      const status = this.#statuses.get(id)
      if (status !== 'first' && !(isFailure(status) && status.times === 0)) continue
      this.#statuses.set(id, 'first')
      this.#gathering.delete(id)
      this.#urgent.add(id)
    }
  }

  has = (id: string): boolean => this.#statuses.has(id)

  remove(id: string): void {
    this.#statuses.delete(id)
    this.#known.delete(id)
    this.#urgent.delete(id)
    this.#gathering.delete(id)
  }

  /** Returns the next call to make now, if any. The caller reports its result to `recordSuccess` or `recordFailure`. */
  next(now: number, remainingQuota: RemainingQuota): ScheduledCall | undefined {
    if (remainingQuota.left < 1 || !this.circuit.canCall(now)) return undefined
    return this.#takeFirst(now) ?? this.#takePaced(now, remainingQuota)
  }

  #takeFirst(now: number): ScheduledCall | undefined {
    if (this.#pacer.isFull('first') || this.#getFirstAt() > now) return undefined
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
    if (this.#pacer.isFull('paced') || now < this.#pacer.getNextSlot(remainingQuota)) return undefined
    const interval = this.getInterval(remainingQuota)
    const oldest = this.#oldest()
    const isDue = oldest !== undefined && oldest + interval <= now
    const retry =
      this.#pacer.getRetrySlot(interval, this.calls) <= now
        ? this.#takeRetry(now, isDue ? oldest : Infinity)
        : undefined
    const call = retry ?? (isDue && this.#takeRefresh(now - interval / 2))
    return call ? this.#begin(call, now) : undefined
  }

  /** Returns a retry of ids that were last tried at or before `before`. */
  #takeRetry(now: number, before: number): NewCall | undefined {
    for (let failure; (failure = this.#failures.getDue(now)) && failure.triedAt <= before;) {
      this.#failures.remove(failure)
      const ids = failure.ids.filter((id) => this.#statuses.get(id) === failure)
      if (ids.length > 0) return { ids, queue: 'paced', failure }
    }
    return undefined
  }

  /**
   * Returns a call for the oldest ids. The cost of a call is independent of its ids. So it also includes ids that
   * are not due yet, if their numbers were requested at or before `before`.
   */
  #takeRefresh(before: number): NewCall {
    const ids: string[] = []
    for (const [id, at] of this.#known) {
      if (ids.length === this.#options.idsPerCall || at > before) break
      ids.push(id)
    }
    return { ids, queue: 'paced' }
  }

  #begin(newCall: NewCall, now: number): ScheduledCall {
    const call = { ...newCall, isProbe: this.circuit.begin() }
    this.#pacer.begin(call.queue, now, this.calls)
    for (const id of call.ids) {
      this.#known.delete(id)
      this.#urgent.delete(id)
      this.#gathering.delete(id)
      this.#statuses.set(id, call)
    }
    return call
  }

  /**
   * Records that a call succeeded.
   * @param at start time of the call
   */
  recordSuccess(call: ScheduledCall, at: number, now: number): void {
    this.#pacer.end(call.queue)
    this.circuit.recordSuccess(call.isProbe)
    this.#put(this.#failures.recordSuccess(now))
    for (const id of this.#getOwnIds(call)) {
      this.#statuses.set(id, 'known')
      this.#known.set(id, at)
    }
  }

  /** Records ids of a call whose numbers are unreadable, after `recordSuccess` for that call. They are retried later. */
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

  /** Records a failed call. Its ids are retried, with a delay that grows with each failure. */
  recordFailure(call: ScheduledCall, now: number, remainingQuota: RemainingQuota, fault: UpstreamFault): void {
    this.#pacer.end(call.queue)
    // If other calls succeed, these ids are at fault, not YouTube.
    if (call.isProbe || isUpstreamWide(fault) || !this.#failures.haveOthersSucceeded(call.failure))
      this.circuit.recordFailure(call.isProbe, fault, now, remainingQuota.untilReset)
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

  #put(failures: readonly Failure[]): void {
    for (const failure of failures) for (const id of failure.ids) this.#statuses.set(id, failure)
  }

  /** Returns the ids of a call without those that were removed since, which may have been added again. */
  #getOwnIds(call: ScheduledCall): string[] {
    return call.ids.filter((id) => this.#statuses.get(id) === call)
  }

  /** Returns the earliest time of the retry of a failed id. */
  getRetryAt(id: string, now: number, remainingQuota: RemainingQuota): number {
    const status = this.#statuses.get(id)
    if (remainingQuota.left < 1) return now + remainingQuota.untilReset
    const at = isFailure(status) ? Math.max(status.at, this.#pacer.getNextSlot(remainingQuota)) : now
    return Math.max(at, this.circuit.pause?.until ?? now)
  }

  /**
   * Returns the earliest time of the next call, unless a call ends before. `Infinity`: no call begins before one ends, or
   * there are no ids.
   */
  getWakeAt(now: number, remainingQuota: RemainingQuota): number {
    if (remainingQuota.left < 1) return now + remainingQuota.untilReset
    return Math.max(this.circuit.getAllowedAt(), this.#getDueAt(remainingQuota))
  }

  #getDueAt(remainingQuota: RemainingQuota): number {
    const first = this.#pacer.isFull('first') ? Infinity : this.#getFirstAt()
    if (this.#pacer.isFull('paced')) return first
    const interval = this.getInterval(remainingQuota)
    const due = (this.#oldest() ?? Infinity) + interval
    const retry = Math.max(this.#pacer.getRetrySlot(interval, this.calls), this.#failures.getDueAt())
    return Math.min(first, Math.max(this.#pacer.getNextSlot(remainingQuota), Math.min(due, retry)))
  }

  #oldest = (): number | undefined => this.#known.values().next().value

  #getFirstAt(): number {
    return this.#urgent.size > 0 ? -Infinity : (this.#gathering.values().next().value ?? Infinity)
  }
}

const isFailure = (status: VideoStatus | undefined): status is Failure =>
  typeof status === 'object' && 'times' in status
