import { Circuit, isUpstreamWide, type Pause, type UpstreamFault } from './circuit.ts'
import { Failures, type Failure } from './failures.ts'
import { pace, type Allowance } from './pace.ts'

/** One call to make: at most as many ids as a call takes. */
export interface Call {
  readonly ids: readonly string[]
  readonly lane: 'first' | 'paced'
  /** What it tries again, if it has failed before. */
  readonly failure?: Failure
  /** Whether it finds out if YouTube answers again: no other call is made meanwhile. */
  readonly isProbe: boolean
}

type NewCall = Omit<Call, 'isProbe'>

export interface ScheduleOptions {
  readonly idsPerCall: number
  /** Most calls at a time, in both lanes together. */
  readonly connections: number
  /** Numbers are refreshed at most this often (ms). */
  readonly fastest: number
}

/** Where an id is: known, wanted for the first time, asked for, or among what is tried again. */
type Place = 'known' | 'first' | Call | Failure

/** Ids that nobody waits for yet wait this long for others to share a call with (ms). */
const GATHER = 50

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
  readonly #places = new Map<string, Place>()
  /** Since when numbers are known, oldest first. */
  readonly #known = new Map<string, number>()
  /** Wanted for the first time, and waited for. */
  readonly #urgent = new Set<string>()
  /** Wanted for the first time: from when on they need not wait for others any more. */
  readonly #gathering = new Map<string, number>()
  readonly #failures: Failures
  readonly #circuit = new Circuit()
  /** When the calls of the last interval began, oldest first. */
  #begun: number[] = []
  readonly #running = { first: 0, paced: 0 }
  readonly #widths: { readonly first: number; readonly paced: number }
  readonly #started: number
  #lastPaced = -Infinity

  constructor(options: ScheduleOptions, now: number) {
    this.#options = options
    this.#started = now
    this.#failures = new Failures(options.idsPerCall)
    const first = Math.max(1, Math.floor(options.connections / 4))
    this.#widths = { first, paced: Math.max(1, options.connections - first) }
  }

  /** Calls that a refresh of everything takes. */
  get calls(): number {
    return Math.ceil(this.#places.size / this.#options.idsPerCall)
  }

  /** How long from one refresh of an id to the next (ms). */
  interval(allowance: Allowance): number {
    return Math.max(this.#options.fastest, pace(allowance, this.calls))
  }

  /** Takes up an id that is known since `at`; the oldest first. */
  known(id: string, at: number): void {
    this.#places.set(id, 'known')
    this.#known.set(id, at)
    this.#lastPaced = Math.max(this.#lastPaced, at)
  }

  /** Takes up ids of which nothing is known. */
  want(ids: readonly string[], now: number): void {
    for (const id of ids) {
      this.#places.set(id, 'first')
      this.#gathering.set(id, now + GATHER)
    }
  }

  /** Takes up ids of which nothing was known before a restart, either: they take their turns, unless they are urged. */
  resume(ids: readonly string[], now: number): void {
    this.#put(this.#failures.resume(ids, now))
  }

  /** Somebody waits for these: those that were never tried are fetched now. */
  urge(ids: readonly string[]): void {
    for (const id of ids) {
      const place = this.#places.get(id)
      if (place !== 'first' && !(isFailure(place) && place.times === 0)) continue
      this.#places.set(id, 'first')
      this.#gathering.delete(id)
      this.#urgent.add(id)
    }
  }

  forget(id: string): void {
    this.#places.delete(id)
    this.#known.delete(id)
    this.#urgent.delete(id)
    this.#gathering.delete(id)
  }

  /** The next call to make now, if there is one; whoever takes it says later what became of it. */
  next(now: number, allowance: Allowance): Call | undefined {
    if (allowance.left < 1 || !this.#circuit.allows(now)) return undefined
    return this.#nextFirst(now) ?? this.#nextPaced(now, allowance)
  }

  #nextFirst(now: number): Call | undefined {
    if (this.#running.first >= this.#widths.first || this.#firstAt() > now) return undefined
    const ids: string[] = []
    for (const lane of [this.#urgent, this.#gathering]) {
      for (const id of lane.keys()) {
        if (ids.length === this.#options.idsPerCall) break
        ids.push(id)
      }
    }
    return this.#begin({ ids, lane: 'first' }, now)
  }

  #nextPaced(now: number, allowance: Allowance): Call | undefined {
    if (this.#running.paced >= this.#widths.paced || now < this.#slot(allowance)) return undefined
    const interval = this.interval(allowance)
    const oldest = this.#oldest()
    const isDue = oldest !== undefined && oldest + interval <= now
    const retry = this.#retrySlot(interval) <= now ? this.#nextRetry(now, isDue ? oldest : Infinity) : undefined
    const call = retry ?? (isDue && this.#nextRefresh(now - interval / 2))
    if (!call) return undefined
    this.#lastPaced = now
    return this.#begin(call, now)
  }

  /** What has failed and was tried before `before`. */
  #nextRetry(now: number, before: number): NewCall | undefined {
    for (let failure; (failure = this.#failures.due(now)) && failure.triedAt <= before;) {
      this.#failures.take(failure)
      const ids = failure.ids.filter((id) => this.#places.get(id) === failure)
      if (ids.length > 0) return { ids, lane: 'paced', failure }
    }
    return undefined
  }

  /** The oldest; a call costs the same however many it asks for, so it takes along all that is older than `before`. */
  #nextRefresh(before: number): NewCall {
    const ids: string[] = []
    for (const [id, at] of this.#known) {
      if (ids.length === this.#options.idsPerCall || at > before) break
      ids.push(id)
    }
    return { ids, lane: 'paced' }
  }

  /** When what has failed may be tried again: an interval has no more calls than a refresh of everything takes. */
  #retrySlot(interval: number): number {
    const before = this.#begun.at(-this.calls)
    return before === undefined ? -Infinity : before + interval
  }

  #begin(newCall: NewCall, now: number): Call {
    const call = { ...newCall, isProbe: this.#circuit.begin() }
    this.#running[call.lane]++
    this.#begun.push(now)
    // Cut now and then, not each time.
    if (this.#begun.length > 2 * this.calls) this.#begun = this.#begun.slice(-this.calls)
    for (const id of call.ids) {
      this.#known.delete(id)
      this.#urgent.delete(id)
      this.#gathering.delete(id)
      this.#places.set(id, call)
    }
    return call
  }

  /** A call has given numbers. @param at when it was made */
  succeeded(call: Call, at: number, now: number): void {
    this.#end(call)
    this.#circuit.succeeded(call.isProbe)
    this.#put(this.#failures.succeeded(now))
    for (const id of this.#ownIds(call)) {
      this.#places.set(id, 'known')
      this.#known.set(id, at)
    }
  }

  /** Ids of a call that has succeeded whose numbers cannot be read: they are tried again later. */
  unreadable(ids: readonly string[], { failure }: Call, now: number, allowance: Allowance, fault: UpstreamFault): void {
    const known = ids.filter((id) => this.#known.delete(id))
    if (known.length > 0) this.#fail(known, failure, now, allowance, fault)
  }

  /** A call has failed: its ids are tried again later, each time later still. */
  failed(call: Call, now: number, allowance: Allowance, fault: UpstreamFault): void {
    this.#end(call)
    // While others succeed it is these ids, not YouTube.
    if (call.isProbe || isUpstreamWide(fault) || !this.#failures.othersSucceed(call.failure))
      this.#circuit.failed(call.isProbe, fault, now, allowance.untilReset)
    this.#fail(this.#ownIds(call), call.failure, now, allowance, fault)
  }

  #fail(ids: string[], before: Failure | undefined, now: number, allowance: Allowance, fault: UpstreamFault): void {
    const options = { now, longest: this.interval(allowance), isAlone: this.calls <= 1 }
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
  keyChanged(): void {
    this.#circuit.keyChanged()
  }

  #put(failures: readonly Failure[]): void {
    for (const failure of failures) for (const id of failure.ids) this.#places.set(id, failure)
  }

  #end({ lane }: Call): void {
    this.#running[lane]--
  }

  /** Those that were neither forgotten nor taken up anew since. */
  #ownIds(call: Call): string[] {
    return call.ids.filter((id) => this.#places.get(id) === call)
  }

  /** When an id that has failed is tried again at the earliest. */
  retryAt(id: string, now: number, allowance: Allowance): number {
    const place = this.#places.get(id)
    if (allowance.left < 1) return now + allowance.untilReset
    const at = isFailure(place) ? Math.max(place.at, this.#slot(allowance)) : now
    return Math.max(at, this.pause?.until ?? now)
  }

  /** When there may be a call to make, if no other ends before: `Infinity` if only then. */
  wakeAt(now: number, allowance: Allowance): number {
    if (allowance.left < 1) return now + allowance.untilReset
    return Math.max(this.#circuit.allowsAt(), this.#dueAt(allowance))
  }

  #dueAt(allowance: Allowance): number {
    const first = this.#running.first < this.#widths.first ? this.#firstAt() : Infinity
    if (this.#running.paced >= this.#widths.paced) return first
    const interval = this.interval(allowance)
    const due = (this.#oldest() ?? Infinity) + interval
    const retry = Math.max(this.#retrySlot(interval), this.#failures.dueAt())
    return Math.min(first, Math.max(this.#slot(allowance), Math.min(due, retry)))
  }

  /** When the next call of the paced lane may go. Not right after a start: a process that keeps dying makes none. */
  #slot(allowance: Allowance): number {
    const wait = pace(allowance, 1)
    return Math.max(this.#lastPaced + wait, this.#started + Math.min(wait, this.#options.fastest))
  }

  #oldest = (): number | undefined => this.#known.values().next().value

  #firstAt(): number {
    return this.#urgent.size > 0 ? -Infinity : (this.#gathering.values().next().value ?? Infinity)
  }
}

const isFailure = (place: Place | undefined): place is Failure => typeof place === 'object' && 'times' in place
