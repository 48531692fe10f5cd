import { Outage } from '@influencer-stats/runtime/async/outage'
import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'

/**
 * Creates the persistence of a count. Concurrent callers share a write. While counts cannot be persisted, calls to
 * YouTube continue without waiting, because an outage of the state must not end the service. The next successful write
 * contains the right count. The result resolves when a count is persisted that is no older than the call, or at once while
 * the state is unavailable. It never rejects.
 * @param write stores the current count
 * @param onFault called with the cause when the count cannot be stored, once per outage
 */
export function createQuotaPersistence(write: () => unknown, onFault: (fault: unknown) => void): () => Promise<void> {
  const outage = new Outage({ onStart: onFault })
  const run = coalesceCalls(async () => {
    try {
      await write()
      outage.succeed()
    } catch (fault) {
      outage.fail(fault)
    }
  })

  return async () => {
    const saved = run()
    if (!outage.isActive) await saved
  }
}
