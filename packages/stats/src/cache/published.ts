import { STALE_INTERVALS, type PreparedReply } from '../core/prepared-reply.ts'
import type { PublishedCacheOptions, StatsCache } from './stats-cache.ts'

/** Holds a copy of the prepared replies that the poller publishes from the main thread. A read is one look-up. */
export function createPublishedCache({ bus, replies: initialReplies, meter }: PublishedCacheOptions): StatsCache {
  const replies = new Map<string, PreparedReply>()

  function applyUpdates(updates: PublishedCacheOptions['replies']): void {
    for (const [id, reply] of updates) {
      if (reply) replies.set(id, reply)
      else replies.delete(id)
    }
  }
  applyUpdates(initialReplies)
  bus.on('publish', applyUpdates)

  return {
    getReady: (id) => replies.get(id),
    // A collection that is absent here has no numbers yet, or does not exist. Only the main thread knows which.
    read: async (id) => replies.get(id) ?? bus.call('poll', id),
    readNumbers: (id) => bus.call('pollNumbers', id),
    getStaleAfter: () => STALE_INTERVALS * meter.interval,
    async close() {},
  }
}
