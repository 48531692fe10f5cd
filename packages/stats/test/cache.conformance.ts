import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CacheOptions, StatsCache } from '../src/cache/cache.ts'
import { CollectionsOwner } from '../src/collections.ts'
import { DAY } from '../src/core/pace.ts'
import { asItReads } from '../src/core/prepared.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { Poller } from '../src/poller.ts'
import { QuotaMeter } from '../src/quota-meter.ts'
import { createMapState } from '../src/state/map.ts'
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

const INTERVAL = 30
const SIZE = 100

/** What every cache must do. */
export function cacheConformance(name: string, create: CreateCache, traits: CacheTraits = {}): void {
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
        retention: DAY,
        onChange: (id, collection) => poller?.changed(id, collection),
      })
      const meter = new QuotaMeter(QuotaMeter.memory(), 0)
      const logger = createSilentLogger()
      const upstream = createUpstreamReader({
        collections,
        client,
        meter,
        logger,
        retryAfter: 1,
        interval: 1,
        deadline: 5_000,
      })
      const options = { collections, client, upstream, logger, meter, refreshInterval: INTERVAL, size: SIZE }
      ;({ cache, poller } = await create(options))
    })
    afterEach(async () => {
      await cache.close()
      await poller?.close()
      await collections.close()
    })

    /** What a client reads, once there is something to read. */
    async function read(id: string): Promise<any> {
      if (waitsForRound) await waitUntil(async () => (await attempt(id)) !== 'STATS_NOT_READY')
      const reply = await cache.read(id)
      return reply && JSON.parse(asItReads(reply, steadyNow(), cache.staleAfter()).body)
    }

    const attempt = async (id: string) => {
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
      expect(JSON.parse(cache.ready('c')?.body ?? '{"videos":2}')).toMatchObject({ videos: 2 })
      await collections.delete('c')
      expect(cache.ready('c')).toBeUndefined()
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
      client.gate = promise
      await collections.put('d', ['a'])
      const reading = attempt('d')
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
      await waitUntil(async () => typeof (await attempt('c')) === 'object')
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
      const ids = Array.from({ length: 2 * SIZE + 50 }, (_, i) => `c${i}`)
      for (const id of ids) await collections.put(id, [id])
      await read(ids.at(-1)!)
      const { promise, resolve } = Promise.withResolvers<void>()
      client.gate = promise
      const replies = Promise.all(ids.map((id) => cache.read(id)))
      resolve()
      const summed = (await replies).map((reply) => JSON.parse(reply!.body).videos)
      expect(summed).toEqual(ids.map(() => 1))
    })

    it(uncached ? 'never has a reply ready' : 'has a reply ready once it was read', async () => {
      await collections.put('c', ['a'])
      await read('c')
      if (uncached) expect(cache.ready('c')).toBeUndefined()
      else await waitUntil(() => cache.ready('c') !== undefined)
      expect(cache.ready('none')).toBeUndefined()
    })

    it('can be closed twice', async () => {
      await cache.close()
      await cache.close()
    })
  })
}
