import { Outage } from '@influencer-stats/runtime/async/outage'
import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'

/** Persists the count of used units before the calls that the units pay for. */
export interface QuotaPersistence {
  /**
   * Resolves when a count is persisted that is no older than this call, or at once while the state is unavailable. Never
   * rejects.
   */
  save(): Promise<void>
}

/**
 * Creates the persistence of a count. Concurrent callers share a write. While counts cannot be persisted, calls to
 * YouTube continue without waiting, because an outage of the state must not end the service. The next successful write
 * contains the right count.
 * @param write stores the current count
 * @param onFault called with the cause when the count cannot be stored, once per outage
 */
export function createQuotaPersistence(write: () => unknown, onFault: (fault: unknown) => void): QuotaPersistence {
  const outage = new Outage({ onStart: onFault })
  const run = coalesceCalls(async () => {
    try {
      await write()
      outage.succeed()
    } catch (fault) {
      outage.fail(fault)
    }
  })

  return {
    async save() {
      const saved = run()
      if (!outage.isActive) await saved
    },
  }
}
