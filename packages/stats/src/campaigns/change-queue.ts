import { Serial } from '@influencer-stats/runtime/async/serial'
import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'

/** Maximum number of queued changes. LevelDB writes a thousand in half a second. */
const MAX_PENDING_CHANGES = 1_000

const RETRY_OPTIONS = { headers: { 'retry-after': '1' } }

/** Codes of faults that would also fail the queued changes. */
const OUTAGE_CODES = new Set<string>([errors.STATE_UNAVAILABLE.code, errors.OUTCOME_UNKNOWN.code])

/** Runs changes one after the other, so that no two of them interleave. */
export class ChangeQueue {
  readonly #serial = new Serial()
  #pending = 0
  #outages = 0

  /**
   * Runs a change after all earlier changes have ended.
   * @throws Problem `STATE_UNAVAILABLE` if the queue is full, or if an earlier change met an outage while this one was
   * queued. In that case this change is not tried, because it would wait for the same timeout.
   */
  run<T>(change: () => Promise<T>): Promise<T> {
    if (this.#pending >= MAX_PENDING_CHANGES)
      return Promise.reject(errors.STATE_UNAVAILABLE('too many queued changes', RETRY_OPTIONS))
    this.#pending++
    const outages = this.#outages
    return this.#serial.run(async () => {
      this.#pending--
      if (outages !== this.#outages) throw errors.STATE_UNAVAILABLE(undefined, RETRY_OPTIONS)
      try {
        return await change()
      } catch (fault) {
        if (fault instanceof Problem && OUTAGE_CODES.has(fault.code)) this.#outages++
        throw fault
      }
    })
  }

  /** Resolves when all queued changes have ended. */
  waitUntilIdle(): Promise<void> {
    return this.#serial.waitUntilIdle()
  }
}
