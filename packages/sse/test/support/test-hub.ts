import { createBudgetMemory, createBudget } from '@influencer-stats/runtime/budget'
import type { Event } from '../../src/core/event.ts'
import { PUBLIC_SCOPE } from '../../src/core/read-scope.ts'
import { createSelectors } from '../../src/core/selectors.ts'
import type { Encoder } from '../../src/encoder/encoder.ts'
import { createEventStreamEncoder } from '../../src/encoder/event-stream-encoder.ts'
import { createEachFanout } from '../../src/fanout/each-fanout.ts'
import { RingHistory } from '../../src/history/ring-history.ts'
import { Hub } from '../../src/hub/hub.ts'
import { SlowReader } from './slow-reader.ts'

const wide = { count: 100_000, bytes: 1e9, age: 3_600_000, topics: 100, total: 1e9 }
export const encoder = createEventStreamEncoder()

/** Creates a hub, and functions that put values and open streams. */
export function startHub(
  options: Partial<typeof wide & { streamBuffer: number; retry: number; sendTimeout: number }> = {},
) {
  const history = new RingHistory({ ...wide, ...options })
  const hub = new Hub({
    history,
    budget: createBudget(createBudgetMemory(1), 0, 268_435_456),
    isCopied: false,
    retry: 2_000,
    streamBuffer: 8_388_608,
    sendTimeout: 30_000,
    ...options,
    createFanout: createEachFanout,
  })
  const put = (topic: string, value: string): Event => {
    const event = { seq: history.seq + 1, at: Date.now(), topic, value }
    history.append([event])
    hub.deliver([event])
    return event
  }
  const open = (
    topics: readonly string[],
    how: { last?: boolean; resumeAfter?: number; encoder?: Encoder } = {},
  ): SlowReader => {
    const connection = new SlowReader()
    connection.on('close', () => hub.remove(connection))
    hub.open(connection, {
      encoder: how.encoder ?? encoder,
      selectors: createSelectors(topics),
      reader: PUBLIC_SCOPE,
      last: how.last ?? false,
      resumeAfter: how.resumeAfter,
    })
    return connection
  }
  return { history, hub, put, open }
}
