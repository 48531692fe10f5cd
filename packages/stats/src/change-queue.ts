import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from './errors.ts'

/** Changes that may wait; with LevelDB a thousand take half a second. */
const MAX_PENDING_CHANGES = 1_000

const RETRY_OPTIONS = { headers: { 'retry-after': '1' } }

/** Faults that the changes that wait would meet, too. */
const OUTAGE_CODES = new Set<string>([errors.STATE_UNAVAILABLE.code, errors.OUTCOME_UNKNOWN.code])

/** Makes changes one after the other, so that no two of them mix. */
export class ChangeQueue {
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0
  #outages = 0

  /**
   * Runs a step when those before it have ended.
   * @throws Problem `STATE_UNAVAILABLE` if too many wait, or one that it waited for met an outage: it would wait as long
   */
  run<T>(step: () => Promise<T>): Promise<T> {
    if (this.#pending >= MAX_PENDING_CHANGES)
      return Promise.reject(errors.STATE_UNAVAILABLE('too many changes wait', RETRY_OPTIONS))
    this.#pending++
    const outages = this.#outages
    const turn = this.#last.then(async () => {
      this.#pending--
      if (outages !== this.#outages) throw errors.STATE_UNAVAILABLE(undefined, RETRY_OPTIONS)
      try {
        return await step()
      } catch (fault) {
        if (fault instanceof Problem && OUTAGE_CODES.has(fault.code)) this.#outages++
        throw fault
      }
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Resolves when all that was begun has ended. */
  async waitUntilIdle(): Promise<void> {
    await this.#last
  }
}
