import { NO_CHUNKS } from '@influencer-stats/runtime/framing'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createBudgetMemory, createBudget } from '@influencer-stats/runtime/budget'
import { onTestFinished } from 'vitest'
import { toPage } from '../../src/core/change-pages.ts'
import type { KeyRange } from '../../src/core/range-tree.ts'
import { parseWatchEvents } from '../../src/lines/watch-events.ts'
import { encodeWrites } from '../../src/core/encode-writes.ts'
import { ChangeFeed } from '../../src/watch/change-feed.ts'
import { Watchers, type WatchersOptions } from '../../src/watch/watchers.ts'
import { SlowConnection } from '@influencer-stats/runtime/testing/slow-connection'

interface WatchersSetup extends Partial<WatchersOptions> {
  readonly clientMemoryLimit: number
  /** Memory in which the threads of the budget count. `thread` is the index of this thread. */
  readonly memory?: Int32Array
  readonly thread?: number
  readonly feed?: ChangeFeed
}

export function createFeed(maxBytes = 64 * 1_048_576) {
  const feed = new ChangeFeed(maxBytes)
  feed.start(0)
  return feed
}

/** Adds a sequence that puts a value of `bytes` bytes under each of these keys. */
export const put = (feed: ChangeFeed, seq: number, keys: readonly string[], bytes: number): void =>
  feed.add({
    seq,
    writes: encodeWrites([
      {
        ops: keys.map((key) => ({
          type: 'put' as const,
          key: Buffer.from(key),
          value: Buffer.alloc(bytes, `${key}.${seq} `),
        })),
      },
    ]),
  })

/** Creates the streams of one thread on a feed, without a server. */
export function openWatchers({
  clientMemoryLimit,
  memory = createBudgetMemory(1),
  thread = 0,
  ...options
}: WatchersSetup) {
  const feed = options.feed ?? createFeed()
  const budget = createBudget(memory, thread, clientMemoryLimit)
  const watchers = new Watchers({
    changes: async (after, ...rest) => (after === undefined ? toPage([], feed.upTo) : feed.readAfter(after, ...rest)),
    budget,
    isCopied: false,
    maxStreams: 100_000,
    maxUnreadBytes: 1_073_741_824,
    sendTimeout: 3_600_000,
    heartbeat: 3_600_000,
    ...options,
  })
  onTestFinished(() => watchers.close())
  function open(range: KeyRange, { after, isReading = false }: { after?: number; isReading?: boolean } = {}) {
    const connection = new SlowConnection({ isReading })
    watchers.open(connection, '', { framing: NO_CHUNKS, range, after, reportsProgress: true })
    return connection
  }
  return { feed, memory, budget, watchers, open }
}

/** Returns the changed keys that the client of a stream has received, by sequence. */
export async function readSequences({ received }: SlowConnection): Promise<{ seq: number; keys: string[] }[]> {
  async function* yieldChunks() {
    yield* received
  }
  const sequences = await Array.fromAsync(parseWatchEvents(yieldChunks()))
  return sequences.map(({ seq, ops }) => ({ seq, keys: ops.map(({ key }) => key.toString()) }))
}

/** Name of a key. */
export const toName = (i: number) => `k${String(i).padStart(4, '0')}`
/** Range from a key on. */
export const toStart = (i: number) => ({ start: toName(i) })

/** Resolves once all cut connections have emitted `close`. */
export const waitForClose = async () => {
  await nextTurn()
  await nextTurn()
}

/** Resolves once a reader has received this sequence. */
export async function waitForSequence({ received }: SlowConnection, seq: number): Promise<void> {
  const end = `id: ${seq}\n\n`
  while (received.at(-1)?.toString('latin1').slice(-end.length) !== end) await nextTurn()
}
