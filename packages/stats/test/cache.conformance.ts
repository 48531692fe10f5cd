import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheOptions, StatsCache } from '../src/cache/stats-cache.ts'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { isStale } from '../src/core/prepared-reply.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { Poller } from '../src/refresh/poller.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { ReportedTotals } from '../src/posts/reported-totals.ts'
import { createMapState } from '../src/state/map-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { createUpstreamReader } from '../src/refresh/upstream-reader.ts'
import { FakeClient } from './support/fake-client.ts'
import { parseReply } from './support/replies.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

export interface CacheTraits {
  /** True if a new collection has no numbers until the next round. */
  readonly waitsForRound?: boolean
  /** True if every read calls the upstream. */
  readonly uncached?: boolean
}

/** Dependencies of a cache in these tests. The cache of the poller also needs the part on main. */
export type CacheSetUp = Omit<CacheOptions, 'collections'> & { collections: CollectionsOwner; client: FakeClient }

/** Creates a cache and, for the poller, its part on main. */
export type CreateCache = (setUp: CacheSetUp) => Promise<{ cache: StatsCache; poller?: Poller }>

const INTERVAL_MS = 30
const CACHE_SIZE = 100

/** Conformance suite of every cache. */
export function testCache(name: string, create: CreateCache, traits: CacheTraits = {}): void {
  const { waitsForRound = false, uncached = false } = traits

  describe(`cache ${name}`, () => {
    let client: FakeClient
    let collections: CollectionsOwner
    let cache: StatsCache
    let poller: Poller | undefined

    beforeEach(async () => {
      client = new FakeClient()
      collections = new CollectionsOwner({
        state: createMapState(),
        retention: DAY_MS,
        onChange: (id, collection) => poller?.onCollectionChange(id, collection),
      })
      const meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
      const logger = createSilentLogger()
      const upstream = createUpstreamReader({
        collections,
        client,
        meter,
        logger,
        retryAfter: 1,
        interval: 1,
        timeout: 5_000,
      })
      const reported = new ReportedTotals()
      const numbers = { refreshInterval: INTERVAL_MS, size: CACHE_SIZE }
      const options = { collections, client, upstream, logger, meter, reported, ...numbers }
      ;({ cache, poller } = await create(options))
    })
    afterEach(async () => {
      await cache.close()
      await poller?.close()
      await collections.close()
    })

    /** Returns the reply for a client, once it exists. */
    async function read(id: string): Promise<any> {
      if (waitsForRound) await waitUntil(async () => (await tryRead(id)) !== 'STATS_NOT_READY')
      const reply = await cache.read(id)
      return reply && parseReply(reply, isStale(reply, steadyNow(), cache.getStaleAfter()))
    }

    const tryRead = async (id: string) => {
      try {
        return await cache.read(id)
      } catch (error) {
        return (error as { code: string }).code
      }
    }

    it('returns undefined for a collection that does not exist', async () => {
      expect(await cache.read('none')).toBeUndefined()
      expect(await cache.readNumbers('none')).toBeUndefined()
    })

    it('sums a collection, lists missing videos, and returns zeros for an empty collection', async () => {
      await collections.change('put', 'c', ['a', 'b', 'x_'])
      await collections.change('put', 'empty', [])
      expect(await read('c')).toMatchObject({ impressions: 2, videos: 2, missing: ['x_'] })
      expect(await read('empty')).toMatchObject({ impressions: 0, engagements: 0, score: 0, videos: 0, missing: [] })
    })

    it('returns the numbers of each video on request', async () => {
      await collections.change('put', 'c', ['a', 'b', 'x_'])
      await read('c')
      const { snapshot } = (await cache.readNumbers('c'))!
      expect(snapshot).toMatchObject({ videos: [{ id: 'a', views: 1 }, { id: 'b' }], missing: ['x_'] })
    })

    it('has no prepared reply of the previous version of a changed collection', async () => {
      await collections.change('put', 'c', ['a'])
      await read('c')
      await collections.change('put', 'c', ['a', 'b'])
      expect(parseReply(cache.getReady('c')) ?? { videos: 2 }).toMatchObject({ videos: 2 })
      await collections.change('delete', 'c')
      expect(cache.getReady('c')).toBeUndefined()
    })

    it('shows a change of the collection at once, or no reply until it has its numbers', async () => {
      await collections.change('put', 'c', ['a'])
      expect(await read('c')).toMatchObject({ videos: 1 })
      await collections.change('put', 'c', ['a', 'b', 'd'])
      expect(await read('c')).toMatchObject({ videos: 3 })
      await collections.change('removeVideo', 'c', 'a')
      expect(await read('c')).toMatchObject({ videos: 2 })
    })

    it('removes a deleted collection, also while its numbers are being fetched', async () => {
      await collections.change('put', 'c', ['a'])
      await read('c')
      await collections.change('delete', 'c')
      expect(await cache.read('c')).toBeUndefined()

      const { promise, resolve } = Promise.withResolvers<void>()
      client.hold = promise
      await collections.change('put', 'd', ['a'])
      const reading = tryRead('d')
      await collections.change('delete', 'd')
      resolve()
      await reading
      expect(await cache.read('d')).toBeUndefined()
    })

    it('shows new numbers eventually', async () => {
      await collections.change('put', 'c', ['a'])
      expect(await read('c')).toMatchObject({ impressions: 1 })
      client.views = 7
      await waitUntil(async () => (await read('c')).impressions === 7)
    })

    it('marks old numbers as stale, and removes the mark after a refresh', async () => {
      await collections.change('put', 'c', ['a'])
      await read('c')
      client.down = true
      await waitUntil(async () => (await read('c')).stale)
      client.down = false
      await waitUntil(async () => !(await read('c')).stale)
    })

    it('reports that there are no numbers, and recovers', async () => {
      client.down = true
      await collections.change('put', 'c', ['a'])
      const code = waitsForRound ? 'STATS_NOT_READY' : 'UPSTREAM_UNAVAILABLE'
      await expect(cache.read('c')).rejects.toMatchObject({
        code,
        headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
      })
      client.down = false
      await waitUntil(async () => typeof (await tryRead('c')) === 'object')
      expect(await read('c')).toMatchObject({ impressions: 1 })
    })

    it(uncached ? 'calls the upstream for every read' : 'calls the upstream once for many reads', async () => {
      await collections.change('put', 'c', ['a'])
      await read('c')
      client.calls = []
      await Promise.all(Array.from({ length: 100 }, () => cache.read('c')))
      if (uncached) expect(client.calls).toHaveLength(100)
      else expect(client.calls.length).toBeLessThanOrEqual(3)
    })

    it('answers all concurrent reads, also of more collections than it holds', async () => {
      const ids = Array.from({ length: 2 * CACHE_SIZE + 50 }, (_, i) => `c${i}`)
      for (const id of ids) await collections.change('put', id, [id])
      await read(ids.at(-1)!)
      const { promise, resolve } = Promise.withResolvers<void>()
      client.hold = promise
      const replies = Promise.all(ids.map((id) => cache.read(id)))
      resolve()
      const summed = (await replies).map((reply) => parseReply(reply).videos)
      expect(summed).toEqual(ids.map(() => 1))
    })

    it(uncached ? 'never has a prepared reply' : 'has a prepared reply after a read', async () => {
      await collections.change('put', 'c', ['a'])
      await read('c')
      if (uncached) expect(cache.getReady('c')).toBeUndefined()
      else
        await waitUntil(async () => {
          // A prepared reply may expire before a busy machine sees it.
          await cache.read('c')
          return cache.getReady('c') !== undefined
        })
      expect(cache.getReady('none')).toBeUndefined()
    })

    it('can be closed twice', async () => {
      await cache.close()
      await expect(cache.close()).resolves.toBeUndefined()
    })
  })
}
