import type { Log } from '@influencer-stats/log/log'
import type { Outcomes } from '../core/judge.ts'
import { EXPIRE } from '../core/writes.ts'
import { MOST_EXPIRED, type LogView } from './log-view.ts'

/** What has expired is gone so late at most (ms), where clocks agree. */
const EVERY = 200
/** Where nothing had expired by the log's clock, which is behind this one, it is asked again after so long (ms). */
const PATIENCE = 1_000
const NOTHING = Buffer.alloc(0)

/**
 * Has what has expired taken away by entries of the log, by whose clock that is judged. Any node may ask for it; if more
 * than one do, that does no harm.
 * @returns what ends it
 */
export function expireInLog(log: Pick<Log, 'append'>, view: LogView): () => void {
  let isBusy = false
  let isEnded = false
  let notBefore = 0

  async function expire(): Promise<void> {
    isBusy = true
    try {
      while (!isEnded && view.nextDue <= Date.now()) {
        const { outcome } = await log.append<Outcomes>(EXPIRE, NOTHING)
        if (outcome.length === 0) notBefore = performance.now() + PATIENCE
        if (outcome.length < MOST_EXPIRED) break
      }
    } catch {
      // Without the log nothing expires.
    } finally {
      isBusy = false
    }
  }

  const timer = setInterval(() => void (isBusy || performance.now() < notBefore || expire()), EVERY).unref()
  return () => {
    isEnded = true
    clearInterval(timer)
  }
}
