import { afterEach, describe, expect, it } from 'vitest'
import { CollectionsOwner } from '../src/collections.ts'
import { DAY } from '../src/core/pace.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { Update } from '../src/messages.ts'
import { Poller } from '../src/poller.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import { createMapState } from '../src/state/map.ts'
import { FakeUpstreamReader } from './support/fake-upstream-reader.ts'
import { numbersOf } from './support/numbers.ts'
import { until } from '@influencer-stats/runtime/testing/until'

describe('the poller', () => {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })

  function setUp({ budget = 0, refreshInterval = 20 } = {}) {
    const upstream = new FakeUpstreamReader()
    const published: Update[][] = []
    const state = createMapState()
    const meter = new QuotaMeter(QuotaMeter.memory(), budget)
    const collections: CollectionsOwner = new CollectionsOwner({
      state,
      retention: DAY,
      onChange: (id, collection) => poller.changed(id, collection),
    })
    const poller: Poller = new Poller({
      collections,
      upstream,
      meter,
      logger: createSilentLogger(),
      refreshInterval,
      publish: async (updates) => void published.push([...updates]),
    })
    closers.push(
      () => collections.close(),
      () => poller.close(),
    )
    return { upstream, published, state, meter, collections, poller }
  }

  it('serves the last known numbers after a restart, before YouTube has answered', async () => {
    const { upstream, state, poller } = setUp()
    upstream.down = true
    await state.put({ id: 'c', videos: ['a'], revision: 1 })
    await state.putSnapshot('c', { videos: [numbersOf('a', 5)], missing: [], asOf: Date.now() - DAY })
    await poller.start()
    expect(JSON.parse((await poller.read('c'))!.body)).toMatchObject({ impressions: 5, stale: true })
    expect(poller.replies()).toHaveLength(1)
  })

  it('looks at each collection a few times while it starts, however many there are', async () => {
    async function looksAtEach(count: number): Promise<number> {
      const { upstream, state, poller } = setUp()
      let looks = 0
      upstream.down = true
      for (let i = 0; i < count; i++) {
        const id = String(i)
        const put = { id, videos: ['a'], revision: 1 }
        await state.put(Object.defineProperty(put, 'videos', { get: () => (looks++, ['a']) }))
        await state.putSnapshot(id, { videos: [numbersOf('a')], missing: [], asOf: Date.now() - DAY })
      }
      looks = 0
      await poller.start()
      expect(poller.replies()).toHaveLength(count)
      return looks / count
    }
    expect(await looksAtEach(2_000)).toBeLessThan(10)
  })

  it('fetches the first numbers of a collection once, however many wait for them', async () => {
    const { upstream, collections, poller } = setUp({ refreshInterval: 60_000 })
    await poller.start()
    await collections.put('c', ['a'])
    await Promise.all(Array.from({ length: 50 }, () => poller.read('c')))
    expect(upstream.reads).toEqual(['c'])
  })

  it('does not ask again for what has just failed', async () => {
    const { upstream, collections, poller } = setUp({ refreshInterval: 60_000 })
    await poller.start()
    upstream.down = true
    await collections.put('c', ['a'])
    for (let i = 0; i < 20; i++) await expect(poller.read('c')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' })
    expect(upstream.reads).toEqual(['c'])
  })

  it('asks again only for the collections that failed until the next round is due', async () => {
    const { upstream, collections, poller } = setUp({ refreshInterval: 60_000 })
    await collections.put('bad', ['a'])
    await collections.put('good', ['a'])
    await until(() => poller.replies().length === 2)
    upstream.stale = true
    upstream.reads = []
    await poller.start()
    upstream.stale = false
    await until(() => poller.stale === 0)
    expect(upstream.reads.filter((id) => id === 'good').length).toBeLessThanOrEqual(2)
  })

  it('publishes a round as one message, and a deletion as a reply that is gone', async () => {
    const { published, collections, poller } = setUp({ refreshInterval: 60_000 })
    for (const id of ['c', 'd', 'e']) await collections.put(id, ['a'])
    await until(() => poller.replies().length === 3)
    published.length = 0
    await poller.start()
    await until(() => published.length > 0)
    expect(published[0]!.map(([id]) => id).toSorted()).toEqual(['c', 'd', 'e'])
    await collections.delete('d')
    expect(published.at(-1)).toEqual([['d', undefined]])
  })

  it('never publishes what a collection was before it changed', async () => {
    const { upstream, published, collections, poller } = setUp({ refreshInterval: 60_000 })
    await collections.put('changes', ['a', 'b'])
    await collections.put('slow', ['a'])
    await until(() => poller.replies().length === 2)
    const { promise, resolve } = Promise.withResolvers<void>()
    const read = upstream.read.bind(upstream)
    upstream.read = async (collection) => {
      if (collection.id === 'slow') await promise
      return read(collection)
    }
    published.length = 0
    await poller.start()
    await collections.put('changes', ['a'])
    resolve()
    await until(() => published.some((updates) => updates.some(([id]) => id === 'slow')))
    const last = published.flat().findLast(([id]) => id === 'changes')![1]!
    expect(JSON.parse(last.body)).toMatchObject({ videos: 1 })
  })

  it('keeps to an interval that the budget allows', async () => {
    const { collections, poller, meter } = setUp({ budget: 100, refreshInterval: 10_000 })
    await poller.start()
    const ids = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(11, '0'))
    await collections.put('c', ids)
    expect(poller.interval()).toBeGreaterThanOrEqual((DAY * 20) / 100)
    for (let i = 0; i < 90; i++) meter.spend()
    expect(poller.interval()).toBeGreaterThan(0)
    for (let i = 0; i < 10; i++) meter.spend()
    expect(() => meter.spend()).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }))
    expect(meter.used).toBe(100)
  })
})

describe('the quota meter', () => {
  it('is one count for all threads, and starts anew with the day', () => {
    let now = Date.parse('2026-11-20T12:00:00Z')
    const memory = QuotaMeter.memory()
    const [a, b] = [new QuotaMeter(memory, 3, () => now), new QuotaMeter(memory, 3, () => now)]
    a.spend()
    b.spend()
    a.spend()
    expect(b.used).toBe(3)
    expect(() => b.spend()).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }))
    expect(a.toUsage()).toEqual({ day: '2026-11-20', used: 3 })
    now += DAY
    expect(b.used).toBe(0)
    b.spend()
    expect(a.used).toBe(1)
  })

  it('goes on from the usage of the same day, not from that of another', () => {
    const now = () => Date.parse('2026-11-20T12:00:00Z')
    const meter = new QuotaMeter(QuotaMeter.memory(), 10, now)
    meter.restore({ day: '2026-11-19', used: 9 })
    expect(meter.used).toBe(0)
    meter.restore({ day: '2026-11-20', used: 4 })
    expect(meter.used).toBe(4)
  })
})
