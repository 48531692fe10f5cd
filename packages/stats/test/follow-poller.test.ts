import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterEach, expect, it } from 'vitest'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { PollerOptions } from '../src/refresh/poller-options.ts'
import { Poller } from '../src/refresh/poller.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { createMapState } from '../src/state/map-state.ts'
import { FakeClient } from './support/fake-client.ts'
import { parseReply } from './support/replies.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** A poller and a follower of the same collections. */
function setUp({ refreshInterval = 20, budget = 0 } = {}) {
  const state = createMapState()
  const requests: string[] = []
  const failed: string[][] = []
  const collections: CollectionsOwner = new CollectionsOwner({
    state,
    retention: DAY_MS,
    async onChange(id, collection) {
      await poller.onCollectionChange(id, collection)
      await follower.onCollectionChange(id, collection)
    },
  })
  function createPoller(more: Partial<PollerOptions>) {
    const client = new FakeClient()
    const poller: Poller = new Poller({
      collections,
      client,
      meter: new QuotaMeter(QuotaMeter.createMemory(), budget),
      logger: createSilentLogger(),
      refreshInterval,
      connections: 4,
      readTimeout: 5_000,
      publish: async () => {},
      ...more,
    })
    closers.push(() => poller.close())
    return { client, poller }
  }
  const line = { isCut: false }
  const { client, poller } = createPoller({
    onFetched: (fetched) => void follower.applyFetched(structuredClone(fetched)),
    onFailed(ids, detail) {
      failed.push([...ids])
      void follower.applyFailure(ids, detail)
    },
  })
  const { client: other, poller: follower } = createPoller({
    isFollower: true,
    onReadRequested: async (id) => {
      requests.push(id)
      if (line.isCut) throw new Error('nobody hears it')
      poller.reads.request(id)
    },
  })
  closers.push(() => collections.close())
  const replies = (of: Poller) => of.replyTable.getReplies().map(([id, reply]) => [id, parseReply(reply)])
  return { client, other, poller, follower, collections, state, requests, failed, replies, line }
}

it('publishes the same replies as the poller, and makes no calls', async () => {
  const { client, other, poller, follower, collections, replies } = setUp()
  await poller.start()
  await follower.start()
  const waitForSame = (count: number) =>
    waitUntil(
      () => JSON.stringify(replies(poller)) === JSON.stringify(replies(follower)) && replies(poller).length === count,
    )
  await collections.change('put', 'a', ['1', '2', 'missing_'])
  await collections.change('put', 'b', ['2', '3'])
  await waitForSame(2)
  client.views = 7
  await waitUntil(() => JSON.stringify(replies(follower)).includes('"impressions":14'))
  await waitForSame(2)
  await collections.change('patch', 'a', { videos: ['2', '4'] })
  await waitForSame(2)
  await collections.change('delete', 'b')
  expect(follower.replyTable.getReplies().map(([id]) => id)).toEqual(['a'])
  expect(follower.getInterval()).toBe(poller.getInterval())
  expect(other.calls).toEqual([])
})

it('requests the numbers for a waiting read once, and reports that they are unavailable', async () => {
  const { client, follower, collections, requests } = setUp({ refreshInterval: 60_000 })
  await collections.change('put', 'a', ['1'])
  const found = await Promise.all(Array.from({ length: 9 }, () => follower.reads.read('a')))
  expect(new Set(found.map((reply) => parseReply(reply).impressions))).toEqual(new Set([1]))
  expect([requests, client.calls]).toEqual([['a'], [['1']]])
  client.down = true
  await collections.change('put', 'b', ['9'])
  await expect(follower.reads.read('b')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' })
  await expect(follower.reads.read('b')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' })
  expect(requests).toEqual(['a', 'b'])
})

it('requests them again if the request was not published', async () => {
  const { follower, collections, requests, line } = setUp({ refreshInterval: 60_000 })
  line.isCut = true
  await collections.change('put', 'a', ['1'])
  const first = follower.reads.read('a')
  await waitUntil(() => requests.length === 1)
  line.isCut = false
  const second = follower.reads.read('a')
  for (const reading of [first, second]) expect(parseReply(await reading)).toMatchObject({ impressions: 1 })
  expect(requests).toEqual(['a', 'a'])
})

it('makes the poller call at once, also for videos that would wait for their turn', async () => {
  const { client, poller, follower, state } = setUp({ refreshInterval: 3_600_000, budget: 100 })
  await state.put({ id: 'c', videos: ['1'], revision: 1 })
  await poller.start()
  await follower.start()
  expect(client.calls).toEqual([])
  expect(parseReply(await follower.reads.read('c'))).toMatchObject({ videos: 1 })
})

it('begins with old and requested videos, and ignores results of calls from before its end', async () => {
  const { client, other, poller, follower, collections } = setUp({ refreshInterval: 60_000 })
  await collections.change('put', 'a', ['1'])
  await follower.reads.read('a')
  const hold = Promise.withResolvers<void>()
  client.hold = hold.promise
  await collections.change('put', 'new', ['2'])
  const waiting = follower.reads.read('new')
  await waitUntil(() => client.calls.length === 2)
  // The roles are exchanged.
  poller.end()
  follower.begin()
  await waiting
  expect(other.calls).toEqual([['2']])
  client.views = 99
  hold.resolve()
  await poller.close()
  expect(poller.replyTable.getReplies().map(([id]) => id)).toEqual(['a'])
})

it('knows the pending requests of other nodes when it takes over', async () => {
  const { other, poller, follower, collections } = setUp({ refreshInterval: 60_000 })
  poller.end()
  await collections.change('put', 'a', ['1'])
  await collections.change('put', 'b', ['2'])
  follower.reads.request('b')
  follower.begin()
  await waitUntil(() => other.calls.length > 0)
  expect(other.calls[0]).toEqual(['2'])
})
