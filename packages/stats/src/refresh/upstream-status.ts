import type { Problem } from '@influencer-stats/runtime/problems'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { CircuitBreaker, Pause } from '../core/circuit-breaker.ts'
import { toUpstreamState, type CallResults, type UpstreamOutage, type UpstreamState } from '../core/upstream-state.ts'
import { errors } from '../errors.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { QuotaMeter } from '../quota/quota-meter.ts'
import { UpstreamProblem } from '../youtube/upstream-problem.ts'
import { getCallResults, getOutage } from './upstream-reader.ts'

export interface UpstreamStatusOptions {
  readonly meter: Pick<QuotaMeter, 'remainingQuota' | 'used' | 'usedByKind'>
  readonly logger: StatsLogger
  /** Called with videos that have no numbers because a call failed, or, without videos, with the outage of all calls. */
  onFailed?(ids: readonly string[], detail: string, outage?: UpstreamOutage): void
  /** Returns the last four characters of the API key in use; undefined if the key is for another source. */
  getMaskedKey?(source: string): string | undefined
}

/** Interval between two reports of an outage (ms). Another node that starts in an outage learns of it within this time. */
const REPORT_INTERVAL_MS = 60_000

const NO_RESULTS: CallResults = { outage: undefined, hasSucceeded: false }

/**
 * State of the API, on the main thread: as the calls of this node show it, or, while another node polls, as that node
 * reports it.
 */
export class UpstreamStatus {
  readonly #options: UpstreamStatusOptions
  /** Last reported pause of the calls, and the time of its last report to other nodes (ms of the monotonic clock). */
  #pause: Pause | undefined
  #reportedAt = -Infinity
  /** Results that the polling node reports. */
  #followed: CallResults = NO_RESULTS

  constructor(options: UpstreamStatusOptions) {
    this.#options = options
  }

  /** Sets the results that the polling node reports; without a parameter, none are known. */
  follow(results: CallResults = NO_RESULTS): void {
    this.#followed = results
  }

  /** @param circuit circuit breaker of this node's calls; undefined while another node polls */
  getState(circuit: CircuitBreaker | undefined, source: string): UpstreamState {
    const { meter, getMaskedKey } = this.#options
    const { remainingQuota, used, usedByKind } = meter
    const results = circuit ? getCallResults(circuit) : this.#followed
    const key = getMaskedKey?.(source)
    return toUpstreamState({ ...results, remainingQuota, used, usedByKind, source, key, now: Date.now() })
  }

  /** Returns the outage of all calls, if any, and the time until which no call is made (ms of the monotonic clock). */
  getOutage(circuit: CircuitBreaker | undefined): { readonly problem: Problem; readonly until: number } | undefined {
    const pause = circuit?.pause
    if (pause) return { problem: new UpstreamProblem(pause.fault), until: pause.until }
    const { outage } = this.#followed
    if (circuit || !outage) return undefined
    const { reason, detail, remedy, retryAt } = outage
    const problem = errors.UPSTREAM_UNAVAILABLE(detail, { members: { ...(reason && { reason }), remedy } })
    return { problem, until: Date.parse(retryAt) - Date.now() + steadyNow() }
  }

  /** Logs the beginning and the end of a pause. Reports a pause to other nodes at intervals. */
  reportPause(pause: Pause | undefined): void {
    const { logger, onFailed } = this.#options
    const before = this.#pause
    this.#pause = pause
    const now = steadyNow()
    if (pause && (pause !== before || now - this.#reportedAt > REPORT_INTERVAL_MS)) {
      this.#reportedAt = now
      onFailed?.([], pause.fault.detail, getOutage(pause))
    }
    if (pause && pause.fault.detail !== before?.fault.detail)
      logger.error(`${pause.fault.detail}; the last known numbers remain. ${pause.fault.remedy}`)
    else if (before && !pause) logger.info('calls to YouTube continue')
  }
}
