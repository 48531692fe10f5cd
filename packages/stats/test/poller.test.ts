import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { ReplyUpdate } from '../src/messages.ts'
import type { SseUpdate } from '../src/publish/sse-publisher.ts'
import { Poller } from '../src/refresh/poller.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { createMapState } from '../src/state/map-state.ts'
import { FakeClient } from './support/fake-client.ts'
import { parseReply } from './support/replies.ts'
import { createNumbers } from './support/video-numbers.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

describe('the poller', () => {
  const closeCallbacks: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closeCallbacks.splice(0).toReversed()) await close()
  })

  function setUp({ budget = 0, refreshInterval = 20 } = {}) {
    const client = new FakeClient()
    const published: ReplyUpdate[][] = []
    const publications: SseUpdate[][] = []
    const lines: string[] = []
    const state = createMapState()
    const meter = new QuotaMeter(QuotaMeter.createMemory(), budget)
    const collections: CollectionsOwner = new CollectionsOwner({
      state,
      retention: DAY_MS,
      onChange: (id, collection) => poller.onCollectionChange(id, collection),
    })
    const poller: Poller = new Poller({
      collections,
      client,
      meter,
      logger: {
        ...createSilentLogger(),
        info: (line) => void lines.push(`info ${line}`),
        error: (line) => void lines.push(`error ${line}`),
      },
      refreshInterval,
      connections: 4,
      readTimeout: 5_000,
      publish: async (updates) => void published.push([...updates]),
      onStale: (updates) => void publications.push([...updates]),
    })
    closeCallbacks.push(
      () => collections.close(),
      () => poller.close(),
    )
    return { client, published, publications, lines, state, meter, collections, poller }
  }

  it('serves the last known numbers after a restart, before YouTube responds', async () => {
    const { client, state, poller } = setUp()
    client.down = true
    await state.put({ id: 'c', videos: ['a'], revision: 1 })
    await state.putSnapshots([
      { id: 'c', snapshot: { videos: [createNumbers('a', 5)], missing: [], asOf: Date.now() - DAY_MS } },
    ])
    await poller.start()
    expect(parseReply(await poller.reads.read('c'))).toMatchObject({ impressions: 5 })
    expect(poller.replyTable.staleCount).toBe(1)
    const [, reply, isStale] = poller.replyTable.getCurrentReplies()[0]!
    expect(parseReply(reply, isStale)).toMatchObject({
      impressions: 5,
      stale: true,
    })
    expect(poller.replyTable.getReplies()).toHaveLength(1)
  })

  it('retries to load the numbers of another source, and reports the fault once', async () => {
    const { client, state, poller, lines } = setUp()
    client.down = true
    await state.put({ id: 'c', videos: ['a'], revision: 1 })
    await poller.start()
    let failures = 0
    vi.spyOn(state, 'list').mockImplementation(() => {
      if (failures === 2) vi.restoreAllMocks()
      failures++
      throw new Error('the disk is broken')
    })
    await poller.changeSource('https://api.example')
    expect(failures).toBe(3)
    expect(poller.getUpstreamState()).toMatchObject({ source: 'https://api.example', state: 'unknown' })
    expect(poller.replyTable.size).toBe(1)
    expect(lines.filter((line) => line.includes('https://api.example'))).toEqual([
      'error the numbers of https://api.example cannot be loaded; this node retries',
      'info loaded the numbers of https://api.example',
    ])
  })

  it('stops while the numbers of another source cannot be loaded', async () => {
    const { state, poller, lines } = setUp()
    await poller.start()
    vi.spyOn(state, 'list').mockRejectedValue(new Error('the disk is broken'))
    const changing = poller.changeSource('https://api.example')
    await waitUntil(() => lines.length > 0)
    await poller.close()
    await changing
  })

  it('counts the collections with old numbers as stale, and no others', async () => {
    const { client, state, poller } = setUp({ refreshInterval: 60_000 })
    client.down = true
    for (const [id, age] of [
      ['old', DAY_MS],
      ['older', 2 * DAY_MS],
      ['fresh', 0],
    ] as const) {
      await state.put({ id, videos: [id], revision: 1 })
      const snapshot = { videos: [createNumbers(id)], missing: [], asOf: Date.now() - age }
      await state.putSnapshots([{ id, snapshot }])
    }
    await state.put({ id: 'unknown', videos: ['unknown'], revision: 1 })
    await poller.start()
    expect(poller.replyTable.size).toBe(4)
    expect(poller.replyTable.staleCount).toBe(2)
  })

  it('reads each collection a few times during its start, regardless of their number', async () => {
    async function countLookups(count: number): Promise<number> {
      const { client, state, poller } = setUp()
      let looks = 0
      client.down = true
      for (let i = 0; i < count; i++) {
        const id = String(i)
        const put = { id, videos: ['a'], revision: 1 }
        await state.put(Object.defineProperty(put, 'videos', { get: () => (looks++, ['a']) }))
        await state.putSnapshots([
          { id: id, snapshot: { videos: [createNumbers('a')], missing: [], asOf: Date.now() - DAY_MS } },
        ])
      }
      looks = 0
      await poller.start()
      await waitUntil(() => poller.replyTable.getReplies().length === count)
      return looks / count
    }
    expect(await countLookups(2_000)).toBeLessThan(10)
  })

  it('starts before all replies are prepared: a requested one is prepared, and finally all are', async () => {
    const { client, state, poller, published } = setUp()
    client.down = true
    const ids = Array.from({ length: 2_500 }, (_, i) => String(i).padStart(4, '0'))
    const snapshot = { videos: [createNumbers('a', 5)], missing: [], asOf: Date.now() - DAY_MS }
    for (const id of ids) await state.put({ id, videos: ['a'], revision: 1 })
    await state.putSnapshots(ids.map((id) => ({ id, snapshot })))
    await poller.start()
    expect(poller.replyTable.getReplies().length).toBeLessThan(ids.length)
    expect(parseReply(await poller.reads.read(ids.at(-1)!))).toMatchObject({ impressions: 5 })
    expect((await poller.rows.getRow(ids.at(-2)!))!.known).toMatchObject({ summary: { impressions: 5 } })
    await waitUntil(() => poller.replyTable.getReplies().length === ids.length)
    await waitUntil(() => new Set(published.flat().map(([id]) => id)).size === ids.length)
  })

  it('fetches the first numbers of a collection once for all waiting reads', async () => {
    const { client, collections, poller } = setUp({ refreshInterval: 60_000 })
    await poller.start()
    await collections.change('put', 'c', ['a'])
    await Promise.all(Array.from({ length: 50 }, () => poller.reads.read('c')))
    expect(client.calls).toEqual([['a']])
  })

  it('requests the videos of a read at once, also after a restart', async () => {
    const { client, state, poller } = setUp({ budget: 100, refreshInterval: 3_600_000 })
    await state.put({ id: 'c', videos: ['a'], revision: 1 })
    await poller.start()
    expect(client.calls).toEqual([])
    expect(parseReply(await poller.reads.read('c'))).toMatchObject({ videos: 1 })
  })

  it('states the time of the oldest numbers', async () => {
    const { collections, poller } = setUp({ refreshInterval: 60_000 })
    await collections.change('put', 'c', ['a'])
    const first = (await poller.reads.read('c'))!
    await waitUntil(() => Date.now() > first.asOf)
    for (const videos of [
      ['a', 'b'],
      ['b', 'a'],
    ]) {
      await collections.change('put', 'c', videos)
      expect(await poller.reads.read('c')).toMatchObject({ asOf: first.asOf, at: first.at })
    }
  })

  it('does not request failed videos again at once', async () => {
    const { client, collections, poller } = setUp({ refreshInterval: 60_000 })
    await poller.start()
    client.down = true
    await collections.change('put', 'c', ['a'])
    for (let i = 0; i < 20; i++)
      await expect(poller.reads.read('c')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' })
    expect(client.calls).toEqual([['a']])
  })

  it('publishes the changes of a call as one message, and a deletion as a removed reply', async () => {
    const { published, collections, poller } = setUp({ refreshInterval: 60_000 })
    for (const id of ['c', 'd', 'e']) await collections.change('put', id, ['a'])
    await waitUntil(() => published.at(-1)?.length === 3)
    expect(published.at(-1)!.map(([id, reply]) => [id, parseReply(reply).videos])).toEqual([
      ['c', 1],
      ['d', 1],
      ['e', 1],
    ])
    await collections.change('delete', 'd')
    expect(published.at(-1)).toEqual([['d', undefined]])
    expect(poller.replyTable.size).toBe(2)
  })

  it('never publishes a reply of the version before a change', async () => {
    const { client, published, collections, poller } = setUp()
    await collections.change('put', 'c', ['a', 'b'])
    await waitUntil(() => poller.replyTable.getReplies().length === 1)
    const hold = Promise.withResolvers<void>()
    client.hold = hold.promise
    client.calls = []
    await waitUntil(() => client.calls.length > 0)
    await collections.change('put', 'c', ['a'])
    published.length = 0
    hold.resolve()
    await waitUntil(() => published.length > 0)
    for (const [, reply] of published.flat()) expect(parseReply(reply)).toMatchObject({ videos: 1 })
  })

  it('continues polling when the clock is set back by an hour, and reports no old numbers as fresh', async () => {
    const { client, collections, poller } = setUp({ refreshInterval: 30 })
    await collections.change('put', 'c', ['a'])
    await waitUntil(() => poller.replyTable.getReplies().length === 1)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    onTestFinished(() => void vi.useRealTimers())
    client.views = 7
    await waitUntil(() => parseReply(poller.replyTable.getReplies()[0]![1]).impressions === 7)
    client.down = true
    await waitUntil(() => poller.replyTable.staleCount === 1)
  })

  it('does not wait for a failing state: numbers stay fresh', async () => {
    const { client, collections, poller } = setUp({ refreshInterval: 50 })
    await collections.change('put', 'c', ['a'])
    await waitUntil(() => poller.replyTable.getReplies().length === 1)
    let saved = 0
    collections.saveSnapshot = () => new Promise(() => saved++)
    for (const views of [3, 4, 5]) {
      client.views = views
      await waitUntil(() => parseReply(poller.replyTable.getReplies()[0]![1]).impressions === views)
    }
    expect(saved).toBe(1)
  })

  it('reports once that numbers have become stale, and again after they were fresh', async () => {
    const { client, publications, collections, poller } = setUp({ refreshInterval: 50 })
    await collections.change('put', 'c', ['a'])
    await waitUntil(() => poller.replyTable.getReplies().length === 1)
    client.down = true
    await waitUntil(() => publications.length === 1)
    expect(publications[0]).toMatchObject([['c', {}, true]])
    client.down = false
    await waitUntil(() => poller.replyTable.staleCount === 0)
    client.down = true
    await waitUntil(() => publications.length === 2)
  })

  it('keeps to an interval that the budget allows', async () => {
    const { collections, poller, meter } = setUp({ budget: 100, refreshInterval: 10_000 })
    await poller.start()
    const ids = Array.from({ length: 1_000 }, (_, i) => String(i).padStart(11, '0'))
    await collections.change('put', 'c', ids)
    expect(poller.getInterval()).toBeGreaterThanOrEqual((DAY_MS * 20) / 100)
    expect(meter.interval).toBeGreaterThanOrEqual((DAY_MS * 20) / 100)
    for (let i = meter.used; i < 90; i++) await meter.spend()
    expect(poller.getInterval()).toBeGreaterThan(0)
    for (let i = meter.used; i < 100; i++) await meter.spend()
    expect(() => meter.spend()).toThrow(expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' }))
    expect(meter.used).toBe(100)
  })
})
