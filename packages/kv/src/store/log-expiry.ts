import type { Log } from '@influencer-stats/log/log'
import type { Outcomes } from '../core/judge.ts'
import { EXPIRE } from '../core/writes.ts'
import { MOST_EXPIRED, type LogView } from './log-view.ts'

/** What has expired is gone so late at most (ms), where clocks agree. */
const EVERY = 200
/** Pause after an entry that removed nothing, because the servers' clock was set back (ms). */
const PAUSE_MS = 1_000
const NOTHING = Buffer.alloc(0)

/**
 * Has what has expired taken away by entries of the log, by whose clock that is judged. Any node may ask for it; if more
 * than one do, that does no harm.
 * @param now the log's clock, as this node knows it (ms since 1970)
 * @returns what ends it
 */
export function expireInLog(log: Pick<Log, 'append'>, view: LogView, now: () => number): () => void {
  let isBusy = false
  let isEnded = false
  let notBefore = 0

  async function expire(): Promise<void> {
    isBusy = true
    try {
      while (!isEnded && view.nextDue <= now()) {
        const { outcome } = await log.append<Outcomes>(EXPIRE, NOTHING)
        if (outcome.length === 0) notBefore = performance.now() + PAUSE_MS
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
