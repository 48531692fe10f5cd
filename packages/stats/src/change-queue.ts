import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from './errors.ts'

/** Changes that may wait; with LevelDB a thousand take half a second. */
const MOST_WAITING = 1_000

const RETRY = { headers: { 'retry-after': '1' } }

/** Faults that the changes that wait would meet, too. */
const OUTAGES = new Set<string>([errors.STATE_UNAVAILABLE.code, errors.OUTCOME_UNKNOWN.code])

/** Makes changes one after the other, so that no two of them mix. */
export class ChangeQueue {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #outages = 0

  /**
   * Runs a step when those before it have ended.
   * @throws Problem `STATE_UNAVAILABLE` if too many wait, or one that it waited for met an outage: it would wait as long
   */
  run<T>(step: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING) return Promise.reject(errors.STATE_UNAVAILABLE('too many changes wait', RETRY))
    this.#waiting++
    const outages = this.#outages
    const turn = this.#last.then(async () => {
      this.#waiting--
      if (outages !== this.#outages) throw errors.STATE_UNAVAILABLE(undefined, RETRY)
      try {
        return await step()
      } catch (fault) {
        if (fault instanceof Problem && OUTAGES.has(fault.code)) this.#outages++
        throw fault
      }
    })
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Resolves when all that was begun has ended. */
  async idle(): Promise<void> {
    await this.#last
  }
}
