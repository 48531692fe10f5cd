import { STALE_INTERVALS, type Prepared } from '../core/prepared.ts'
import type { Published, StatsCache } from './cache.ts'

/** This thread's copy of the ready-made replies that main's poller publishes: a read is one look-up. */
export function createPublishedCache({ bus, replies: first, meter }: Published): StatsCache {
  const replies = new Map<string, Prepared>()

  function publish(updates: Published['replies']): void {
    for (const [id, reply] of updates) {
      if (reply) replies.set(id, reply)
      else replies.delete(id)
    }
  }
  publish(first)
  bus.on('publish', publish)

  return {
    ready: (id) => replies.get(id),
    // What is not here has no numbers yet, or does not exist: main knows.
    read: async (id) => replies.get(id) ?? bus.call('poll', id),
    readByVideo: (id) => bus.call('pollByVideo', id),
    staleAfter: () => STALE_INTERVALS * meter.interval,
    async close() {},
  }
}
