import { DAY_MS } from './quota-budget.ts'

/**
 * The cause of a failed call:
 * - `network`: no complete reply came.
 * - `server`: YouTube failed (5xx), its reply does not conform to the API, or the fault is on this machine.
 * - `request`: YouTube refuses this request, with a 4xx that none of the kinds below describes.
 * - `rate`: too many calls at a time. `quota`: the quota of the day is used up. `key`: YouTube refuses the API key.
 */
export type FaultKind = 'network' | 'server' | 'request' | 'rate' | 'quota' | 'key'

/** The cause of a failed call, and the action that a user can take. */
export interface UpstreamFault {
  readonly kind: FaultKind
  /** Google's machine-readable reason, such as `quotaExceeded`, or the code of a network error, such as `ECONNREFUSED`. */
  readonly reason?: string | undefined
  readonly detail: string
  /** One sentence. */
  readonly remedy: string
  /** The wait that the reply requests (ms). */
  readonly retryAfter?: number | undefined
  /** The refused API key, by its last four characters. */
  readonly key?: string | undefined
}

/** True if YouTube would refuse calls for other ids too. */
export const isUpstreamWide = ({ kind }: UpstreamFault): boolean =>
  kind === 'rate' || kind === 'quota' || kind === 'key'

/** No calls are made before `until`. Times are those of the caller's clock (ms). */
export interface Pause {
  readonly fault: UpstreamFault
  readonly since: number
  readonly until: number
}

/** Shortest and longest pause (ms). The pause doubles after each failed probe. */
interface Backoff {
  readonly min: number
  readonly max: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/**
 * A refused key is probed at most once a minute, although refused calls use no quota: YouTube may take minutes to lift a
 * refusal.
 */
const KEY_BACKOFF: Backoff = { min: MINUTE_MS, max: 15 * MINUTE_MS }
const RATE_BACKOFF: Backoff = { min: 10_000, max: 5 * MINUTE_MS }
const FAULT_BACKOFF: Backoff = { min: 1_000, max: MINUTE_MS }
/**
 * If YouTube refuses a call for quota within this time after the expected reset (ms), the reset counts as late. The cause
 * may be a difference between clocks, or a change to or from summer time.
 */
const RESET_TOLERANCE_MS = 2 * HOUR_MS
/** Of pauses while the reset is late: a clock that differs by seconds must not cost minutes. */
const LATE_RESET_BACKOFF: Backoff = { min: MINUTE_MS, max: 15 * MINUTE_MS }

const BACKOFFS: Readonly<Partial<Record<FaultKind, Backoff>>> = {
  key: KEY_BACKOFF,
  rate: RATE_BACKOFF,
  quota: LATE_RESET_BACKOFF,
}

/**
 * Returns the duration of a pause after a fault (ms).
 * @param times number of consecutive failures, from 1: the first failed call, then failed probes
 */
function computePauseMs(fault: UpstreamFault, times: number, untilReset: number): number {
  const { min, max } = BACKOFFS[fault.kind] ?? FAULT_BACKOFF
  const isResetLate = DAY_MS - untilReset < RESET_TOLERANCE_MS
  const wait = fault.kind === 'quota' && !isResetLate ? untilReset : Math.min(min * 2 ** (times - 1), max)
  return Math.max(wait, Math.min(fault.retryAfter ?? 0, DAY_MS))
}

/**
 * The circuit breaker of all calls to YouTube. A failure pauses all calls. After the pause, one call probes YouTube. A
 * successful probe ends the pause; a failed one prolongs it. Times are ms of a monotonic clock.
 */
export class CircuitBreaker {
  #pause: Pause | undefined
  #times = 0
  #isProbing = false
  #hasSucceeded = false

  /** False until the first call succeeds, and after a change of a refused key until one does. */
  get hasSucceeded(): boolean {
    return this.#hasSucceeded
  }

  get pause(): Pause | undefined {
    return this.#pause
  }

  /** True if a call may begin. */
  canCall(now: number): boolean {
    return now >= this.getAllowedAt()
  }

  /** Returns the earliest time of the next call; `Infinity` while a probe is in flight. */
  getAllowedAt(): number {
    return this.#isProbing ? Infinity : (this.#pause?.until ?? -Infinity)
  }

  /**
   * Begins a call that `canCall` has permitted.
   * @returns true if the call is a probe
   */
  begin(): boolean {
    return (this.#isProbing = this.#pause !== undefined)
  }

  recordSuccess(isProbe: boolean): void {
    this.#hasSucceeded = true
    // A call that began before the pause shows that YouTube responds, but not that a refusal is over.
    if (isProbe || (this.#pause && !isUpstreamWide(this.#pause.fault))) this.#close()
  }

  recordFailure(isProbe: boolean, fault: UpstreamFault, now: number, untilReset: number): void {
    if (isProbe) this.#isProbing = false
    const before = this.#pause
    // Calls that are in flight at the same time fail together and count as one failure.
    if (isProbe || !before) this.#times++
    const until = now + computePauseMs(fault, this.#times, untilReset)
    if (before && !isProbe && until <= before.until) return
    this.#pause = { fault, since: before?.since ?? now, until }
  }

  /** Called when another key is in use: a refusal of the previous key does not apply to it. */
  onKeyChange(): void {
    if (this.#pause?.fault.kind !== 'key') return
    this.#close()
    this.#hasSucceeded = false
  }

  #close(): void {
    this.#pause = undefined
    this.#times = 0
    this.#isProbing = false
  }
}
