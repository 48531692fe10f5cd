import type { Log } from '@influencer-stats/log/log'
import type { Outcomes } from '../core/evaluate-writes.ts'
import { EXPIRE_KIND } from '../core/encode-writes.ts'
import { MAX_EXPIRED_KEYS, type KvStateMachine } from './kv-state-machine.ts'

/** What has expired is gone so late at most (ms), where clocks agree. */
const EXPIRY_INTERVAL_MS = 200
/** Pause after an entry that removed nothing, because the servers' clock was set back (ms). */
const PAUSE_MS = 1_000
const EMPTY_BODY = Buffer.alloc(0)

/**
 * Has what has expired taken away by entries of the log, by whose clock that is judged. Any node may ask for it; if more
 * than one do, that does no harm.
 * @param now the log's clock, as this node knows it (ms since 1970)
 * @returns what ends it
 */
export function startClusterExpiry(
  log: Pick<Log, 'append'>,
  stateMachine: KvStateMachine,
  now: () => number,
): () => void {
  let isBusy = false
  let isEnded = false
  let notBefore = 0

  async function expire(): Promise<void> {
    isBusy = true
    try {
      while (!isEnded && stateMachine.nextDue <= now()) {
        const { outcome } = await log.append<Outcomes>(EXPIRE_KIND, EMPTY_BODY)
        if (outcome.length === 0) notBefore = performance.now() + PAUSE_MS
        if (outcome.length < MAX_EXPIRED_KEYS) break
      }
    } catch {
      // Without the log nothing expires.
    } finally {
      isBusy = false
    }
  }

  const timer = setInterval(
    () => void (isBusy || performance.now() < notBefore || expire()),
    EXPIRY_INTERVAL_MS,
  ).unref()
  return () => {
    isEnded = true
    clearInterval(timer)
  }
}
