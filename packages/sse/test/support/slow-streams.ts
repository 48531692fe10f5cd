import { createBudgetMemory, createBudget } from '@influencer-stats/runtime/budget'
import { ChunkReader } from '@influencer-stats/runtime/testing/chunk-reader'
import { SlowConnection } from '@influencer-stats/runtime/testing/slow-connection'
import { PUBLIC_SCOPE } from '../../src/core/read-scope.ts'
import { createSelectors } from '../../src/core/selectors.ts'
import { createEventStreamEncoder } from '../../src/encoder/event-stream-encoder.ts'
import type { CreateFanout } from '../../src/fanout/fanout.ts'
import { createJoinedFanout } from '../../src/fanout/joined-fanout.ts'
import { RingHistory, type RingOptions } from '../../src/history/ring-history.ts'
import { Hub } from '../../src/hub/hub.ts'
import { EventSourceReader } from './event-source-reader.ts'

interface StreamsSetup extends Partial<RingOptions> {
  readonly clientMemoryLimit: number
  /** Memory of the budget, which all threads share. `thread` is the index of this thread. */
  readonly memory?: Int32Array
  readonly thread?: number
  readonly createFanout?: CreateFanout
  readonly isCopied?: boolean
}

interface StreamSetup {
  readonly topics?: readonly string[]
  readonly prefixes?: readonly string[]
  readonly resumeAfter?: number
  readonly isReading?: boolean
}

const encoder = createEventStreamEncoder()

/** Creates the streams of one thread on a history, without a server. */
export function openStreams({
  clientMemoryLimit,
  memory = createBudgetMemory(1),
  thread = 0,
  ...options
}: StreamsSetup) {
  const history = new RingHistory({
    count: 100_000,
    bytes: 1e9,
    age: 3_600_000,
    topics: 10_000,
    total: 1e9,
    ...options,
  })
  const budget = createBudget(memory, thread, clientMemoryLimit)
  const hub = new Hub({
    history,
    budget,
    isCopied: options.isCopied ?? false,
    retry: 2_000,
    streamBuffer: 1_073_741_824,
    sendTimeout: 3_600_000,
    createFanout: options.createFanout ?? createJoinedFanout,
  })
  /** Delivers one value of `bytes` bytes to each of these topics at once. Returns the last sequence. */
  function put(topics: readonly string[], bytes: number): number {
    const events = topics.map((topic, i) => {
      const seq = history.seq + 1 + i
      return { seq, at: Date.now(), topic, value: `${seq} ${'x'.repeat(Math.max(0, bytes - 8))}` }
    })
    history.append(events)
    hub.deliver(events)
    return history.seq
  }
  function open({ topics = [], prefixes = [], resumeAfter, isReading = false }: StreamSetup): SlowConnection {
    const connection = new SlowConnection({ isReading })
    connection.on('close', () => hub.remove(connection))
    const selectors = createSelectors(topics, prefixes)
    hub.open(connection, { encoder, selectors, reader: PUBLIC_SCOPE, last: false, resumeAfter })
    return connection
  }
  return { history, memory, budget, hub, put, open }
}

/** Returns the sequences of the values that the client of a stream has received. */
export function readSequences({ received }: SlowConnection): number[] {
  const reader = new EventSourceReader()
  reader.feed(new ChunkReader().feed(Buffer.concat(received)).toString())
  return reader.events.map(({ data }) => Number(data.split(' ')[0]))
}
