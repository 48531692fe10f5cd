import type { Log } from '@influencer-stats/log/log'
import type { Outcomes } from '../core/evaluate-writes.ts'
import { EXPIRE_KIND } from '../core/encode-writes.ts'
import { MAX_EXPIRED_KEYS, type KvStateMachine } from './kv-state-machine.ts'

/** Interval at which a node looks for expired values (ms). */
const EXPIRY_INTERVAL_MS = 200
/**
 * Pause after an entry that removed no value (ms). This happens if an entry of another node removed the values before,
 * or if the servers' clock was set back.
 */
const PAUSE_MS = 1_000
const EMPTY_BODY = Buffer.alloc(0)

/**
 * Removes expired values in a cluster: appends entries to the log. The log's time of such an entry decides which values
 * have expired. Any node may append such an entry, and entries of several nodes do no harm.
 * @param now returns the log's time, as this node knows it (ms since 1970)
 * @returns a function that stops the removal
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
      // The log is unavailable. The next interval retries.
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
