import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheOptions, StatsCache } from '../src/cache/stats-cache.ts'
import { CollectionsOwner } from '../src/collections.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { withStaleness } from '../src/core/prepared-reply.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { Poller } from '../src/poller.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import { createMapState } from '../src/state/map-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { createUpstreamReader } from '../src/upstream-reader.ts'
import { FakeClient } from './support/fake-client.ts'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

export interface CacheTraits {
  /** Whether a new collection has no numbers until the next round. */
  readonly waitsForRound?: boolean
  /** Whether every read asks the upstream. */
  readonly uncached?: boolean
}

/** What a cache is made of in these tests; the poller's needs what main does, too. */
export type CacheSetUp = Omit<CacheOptions, 'collections'> & { collections: CollectionsOwner; client: FakeClient }

/** Makes a cache and, for the poller, what main does for it. */
export type CreateCache = (setUp: CacheSetUp) => Promise<{ cache: StatsCache; poller?: Poller }>

const INTERVAL_MS = 30
const CACHE_SIZE = 100

/** What every cache must do. */
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
      const options = { collections, client, upstream, logger, meter, refreshInterval: INTERVAL_MS, size: CACHE_SIZE }
      ;({ cache, poller } = await create(options))
    })
    afterEach(async () => {
      await cache.close()
      await poller?.close()
      await collections.close()
    })

    /** What a client reads, once there is something to read. */
    async function read(id: string): Promise<any> {
      if (waitsForRound) await waitUntil(async () => (await tryRead(id)) !== 'STATS_NOT_READY')
      const reply = await cache.read(id)
      return reply && JSON.parse(withStaleness(reply, steadyNow(), cache.getStaleAfter()).body)
    }

    const tryRead = async (id: string) => {
      try {
        return await cache.read(id)
      } catch (error) {
        return (error as { code: string }).code
      }
    }

    it('has nothing for a collection that does not exist', async () => {
      expect(await cache.read('none')).toBeUndefined()
      expect(await cache.readByVideo('none')).toBeUndefined()
    })

    it('sums a collection, names what is missing, and gives zeros for an empty one', async () => {
      await collections.put('c', ['a', 'b', 'x_'])
      await collections.put('empty', [])
      expect(await read('c')).toMatchObject({ impressions: 2, videos: 2, missing: ['x_'] })
      expect(await read('empty')).toMatchObject({ impressions: 0, engagements: 0, score: 0, videos: 0, missing: [] })
    })

    it('gives the numbers of each video on request', async () => {
      await collections.put('c', ['a', 'b', 'x_'])
      await read('c')
      const reply = JSON.parse((await cache.readByVideo('c'))!.body)
      expect(reply.byVideo.map(({ id }: { id: string }) => id)).toEqual(['a', 'b'])
      expect(reply).toMatchObject({ impressions: 2, missing: ['x_'] })
    })

    it('has nothing ready of what a collection was before it changed', async () => {
      await collections.put('c', ['a'])
      await read('c')
      await collections.put('c', ['a', 'b'])
      expect(JSON.parse(cache.getReady('c')?.body ?? '{"videos":2}')).toMatchObject({ videos: 2 })
      await collections.delete('c')
      expect(cache.getReady('c')).toBeUndefined()
    })

    it('shows a change of the collection at once, or nothing until it has its numbers', async () => {
      await collections.put('c', ['a'])
      expect(await read('c')).toMatchObject({ videos: 1 })
      await collections.put('c', ['a', 'b', 'd'])
      expect(await read('c')).toMatchObject({ videos: 3 })
      await collections.removeVideo('c', 'a')
      expect(await read('c')).toMatchObject({ videos: 2 })
    })

    it('forgets a collection that was deleted, also while its numbers were being fetched', async () => {
      await collections.put('c', ['a'])
      await read('c')
      await collections.delete('c')
      expect(await cache.read('c')).toBeUndefined()

      const { promise, resolve } = Promise.withResolvers<void>()
      client.hold = promise
      await collections.put('d', ['a'])
      const reading = tryRead('d')
      await collections.delete('d')
      resolve()
      await reading
      expect(await cache.read('d')).toBeUndefined()
    })

    it('shows new numbers sooner or later', async () => {
      await collections.put('c', ['a'])
      expect(await read('c')).toMatchObject({ impressions: 1 })
      client.views = 7
      await waitUntil(async () => (await read('c')).impressions === 7)
    })

    it('marks numbers stale that should be fresher, and takes the mark away', async () => {
      await collections.put('c', ['a'])
      await read('c')
      client.down = true
      await waitUntil(async () => (await read('c')).stale)
      client.down = false
      await waitUntil(async () => !(await read('c')).stale)
    })

    it('says so when there are no numbers, and recovers', async () => {
      client.down = true
      await collections.put('c', ['a'])
      const code = waitsForRound ? 'STATS_NOT_READY' : 'UPSTREAM_UNAVAILABLE'
      await expect(cache.read('c')).rejects.toMatchObject({
        code,
        headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
      })
      client.down = false
      await waitUntil(async () => typeof (await tryRead('c')) === 'object')
      expect(await read('c')).toMatchObject({ impressions: 1 })
    })

    it(uncached ? 'asks the upstream for every read' : 'asks the upstream once for many reads', async () => {
      await collections.put('c', ['a'])
      await read('c')
      client.calls = []
      await Promise.all(Array.from({ length: 100 }, () => cache.read('c')))
      if (uncached) expect(client.calls).toHaveLength(100)
      else expect(client.calls.length).toBeLessThanOrEqual(3)
    })

    it('answers all who ask, also for more collections at once than it holds', async () => {
      const ids = Array.from({ length: 2 * CACHE_SIZE + 50 }, (_, i) => `c${i}`)
      for (const id of ids) await collections.put(id, [id])
      await read(ids.at(-1)!)
      const { promise, resolve } = Promise.withResolvers<void>()
      client.hold = promise
      const replies = Promise.all(ids.map((id) => cache.read(id)))
      resolve()
      const summed = (await replies).map((reply) => JSON.parse(reply!.body).videos)
      expect(summed).toEqual(ids.map(() => 1))
    })

    it(uncached ? 'never has a reply ready' : 'has a reply ready once it was read', async () => {
      await collections.put('c', ['a'])
      await read('c')
      if (uncached) expect(cache.getReady('c')).toBeUndefined()
      else await waitUntil(() => cache.getReady('c') !== undefined)
      expect(cache.getReady('none')).toBeUndefined()
    })

    it('can be closed twice', async () => {
      await cache.close()
      await cache.close()
    })
  })
}
