import type { PublisherClient } from '@influencer-stats/sse/publisher-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { SsePublisher, type SseUpdate } from '../src/publish/sse-publisher.ts'
import type { PreparedReply } from '../src/core/prepared-reply.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

/** A collection's reply. With equal `impressions` only `asOf` differs. */
const createReply = (impressions: number, asOf: number): PreparedReply => ({
  numbers: `"impressions":${impressions}`,
  rest: '',
  hash: '',
  asOf,
  at: asOf,
})

/** Maximum body of a broadcaster. */
const MAX_BODY_BYTES = 1_048_576

/** A broadcaster that accepts values when the test resolves a put, or refuses them while it is down. */
function setUp() {
  const puts: string[] = []
  const current = new Map<string, PreparedReply | undefined>()
  const versions = new Map<string, number>()
  const lines: string[] = []
  const fake = {
    isUnavailable: false,
    epoch: 'a',
    hold: undefined as Promise<void> | undefined,
    onEpoch: (_epoch: string) => {},
  }
  const broadcaster: PublisherClient = {
    watch: (onEpoch) => void (fake.onEpoch = onEpoch),
    put: (topic, value) => broadcaster.putValues([{ topic, value }]),
    async putValues(values) {
      await fake.hold
      if (fake.isUnavailable) throw new Error('away')
      if (JSON.stringify(values).length > MAX_BODY_BYTES) throw new Error('too large')
      for (const { topic, value } of values) puts.push(`${topic} ${JSON.parse(value).impressions ?? value}`)
      return `${fake.epoch}-${puts.length}`
    },
    close() {},
  }
  const logger = {
    ...createSilentLogger(),
    info: () => void lines.push('info'),
    error: () => void lines.push('error'),
  }
  const publisher = new SsePublisher({
    broadcaster,
    logger,
    getReplies: () => Array.from(current, ([id, reply]): SseUpdate => [id, reply, false]),
    getCollection: (id) => (current.has(id) ? { id, videos: [], revision: versions.get(id) ?? 1 } : undefined),
    getSource: () => 'https://api.example',
  })
  onTestFinished(() => publisher.close())

  function take(...updates: (readonly [id: string, reply: PreparedReply | undefined, isStale?: boolean])[]): void {
    for (const [id, reply] of updates) {
      if (reply) current.set(id, reply)
      else current.delete(id)
    }
    publisher.enqueue(updates.map(([id, reply, isStale = false]) => [id, reply, isStale]))
  }

  /** A change of a collection that may make its numbers unknown. */
  function changeVersion(id: string, reply: PreparedReply | undefined): void {
    versions.set(id, (versions.get(id) ?? 1) + 1)
    current.set(id, reply)
    publisher.enqueue([[id, reply, false]])
  }
  return { publisher, puts, lines, fake, current, take, change: changeVersion }
}

describe('the publisher', () => {
  it('publishes numbers when they change or become stale, not when they are only fresher', async () => {
    const { publisher, puts, take } = setUp()
    take(['c', createReply(1, 1)], ['d', createReply(5, 1)])
    await waitUntil(() => publisher.pending === 0 && puts.length === 2)
    take(['c', createReply(1, 2)], ['d', createReply(6, 2)])
    await waitUntil(() => puts.length === 3)
    take(['c', createReply(2, 3)])
    await waitUntil(() => puts.length === 4)
    take(['c', createReply(2, 3), true])
    await waitUntil(() => puts.length === 5)
    const c = ['collections/c 1', 'collections/c 2', 'collections/c 2']
    expect(puts).toEqual([c[0], 'collections/d 5', 'collections/d 6', ...c.slice(1)])
  })

  it('queues only the newest numbers while the broadcaster is unavailable, and reports it once', async () => {
    const { publisher, puts, lines, fake, take } = setUp()
    fake.isUnavailable = true
    for (let i = 1; i <= 100; i++) take(['c', createReply(i, i)], ['d', createReply(-i, i)])
    await waitUntil(() => publisher.counters.failed >= 3)
    expect(publisher.pending).toBe(2)
    fake.isUnavailable = false
    await waitUntil(() => puts.length === 2)
    expect(puts.toSorted()).toEqual(['collections/c 100', 'collections/d -100'])
    await waitUntil(() => lines.length === 2)
    expect(lines).toEqual(['error', 'info'])
  })

  it('publishes the same numbers of another version, and reports unknown ones', async () => {
    const { publisher, puts, take, change: changeVersion } = setUp()
    take(['c', createReply(1, 1)])
    await waitUntil(() => puts.length === 1)
    changeVersion('c', createReply(1, 1))
    await waitUntil(() => puts.length === 2)
    changeVersion('c', undefined)
    await waitUntil(() => puts.length === 3)
    // The publisher has put no value of it before.
    changeVersion('d', undefined)
    expect(publisher.pending).toBe(0)
    changeVersion('c', createReply(4, 4))
    await waitUntil(() => puts.length === 4)
    expect(puts).toEqual([
      'collections/c 1',
      'collections/c 1',
      'collections/c {"id":"c","version":"3","stale":true,"source":"https://api.example"}',
      'collections/c 4',
    ])
  })

  it('reports at its start which collections have no numbers: a topic may retain those of another source', async () => {
    const { publisher, puts, current } = setUp()
    current.set('c', createReply(1, 1)).set('d', undefined)
    publisher.enqueueAll()
    await waitUntil(() => puts.length === 2)
    expect(puts).toEqual([
      'collections/c 1',
      'collections/d {"id":"d","version":"1","stale":true,"source":"https://api.example"}',
    ])
  })

  it('publishes numbers again that returned to the published ones during a put', async () => {
    const { puts, fake, take } = setUp()
    take(['c', createReply(1, 1)])
    await waitUntil(() => puts.length === 1)
    const { promise, resolve } = Promise.withResolvers<void>()
    fake.hold = promise
    take(['c', createReply(2, 2)])
    take(['c', createReply(1, 3)])
    resolve()
    await waitUntil(() => puts.length === 3)
    expect(puts).toEqual(['collections/c 1', 'collections/c 2', 'collections/c 1'])
  })

  it('drops a deleted collection, also during its put', async () => {
    const { publisher, puts, fake, take } = setUp()
    fake.isUnavailable = true
    take(['c', createReply(1, 1)], ['d', createReply(1, 1)])
    take(['c', undefined])
    await waitUntil(() => publisher.counters.failed > 0)
    fake.isUnavailable = false
    await waitUntil(() => puts.length > 0 && publisher.pending === 0)
    expect(puts).toEqual(['collections/d 1'])
  })

  it('publishes everything to a broadcaster that has lost its values', async () => {
    const { puts, fake, take } = setUp()
    take(['c', createReply(1, 1)], ['d', createReply(1, 1)])
    await waitUntil(() => puts.length === 2)
    fake.epoch = 'b'
    take(['c', createReply(2, 2)])
    await waitUntil(() => puts.length >= 4)
    expect(puts.slice(2)).toEqual(['collections/c 2', 'collections/d 1'])
  })

  it('does so at once after a restart, without a change, and publishes nothing to one that lost no value', async () => {
    const { publisher, puts, fake, take } = setUp()
    fake.onEpoch('a')
    take(['c', createReply(1, 1)], ['d', createReply(1, 1)])
    await waitUntil(() => puts.length === 2)
    fake.onEpoch('a')
    expect(publisher.pending).toBe(0)
    fake.epoch = 'b'
    fake.onEpoch('b')
    await waitUntil(() => puts.length === 4)
    expect(puts.slice(2)).toEqual(['collections/c 1', 'collections/d 1'])
  })

  it('limits the size of a put, regardless of the size of each value', async () => {
    const { publisher, puts, lines, take } = setUp()
    const missing = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(11, 'm'))
    const reply = { ...createReply(1, 1), rest: `,"missing":${JSON.stringify(missing)}` }
    take(...Array.from({ length: 200 }, (_, i): SseUpdate => [`c${i}`, reply, false]))
    await waitUntil(() => publisher.pending === 0 && puts.length === 200)
    expect(lines).toEqual([])
  })

  it('puts several batches concurrently, and the newest value of a collection last', async () => {
    const { publisher, puts, fake, take } = setUp()
    const { promise, resolve } = Promise.withResolvers<void>()
    fake.hold = promise
    take(...Array.from({ length: 804 }, (_, i): SseUpdate => [`c${i}`, createReply(1, 1), false]))
    await waitUntil(() => publisher.pending === 4)
    take(['c0', createReply(2, 2)])
    resolve()
    await waitUntil(() => puts.length === 805)
    expect(puts.indexOf('collections/c0 2')).toBeGreaterThan(puts.indexOf('collections/c0 1'))
  })
})
