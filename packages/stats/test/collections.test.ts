import { describe, expect, it, onTestFinished } from 'vitest'
import { CollectionsOwner, type CollectionsOwnerOptions } from '../src/campaigns/collections-owner.ts'
import { MAX_VIDEOS } from '../src/core/ids.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { errors } from '../src/errors.ts'
import { createMapState } from '../src/state/map-state.ts'
import { toHistoryId, ConflictError } from '../src/state/stats-state.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import type { FetchResult } from '../src/youtube/video-client.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { createUpstreamReader } from '../src/refresh/upstream-reader.ts'
import { createNumbers } from './support/video-numbers.ts'

function openCollections(options: Partial<CollectionsOwnerOptions> = {}): CollectionsOwner {
  const collections = new CollectionsOwner({ state: createMapState(), retention: 30 * DAY_MS, ...options })
  onTestFinished(() => collections.close())
  return collections
}
const createIds = (n: number) => Array.from({ length: n }, (_, i) => String(i).padStart(11, '0'))
const snapshot = (asOf: number, views = 1) => ({ videos: [createNumbers('a', views)], missing: [], asOf })

describe('the owner of the collections', () => {
  it('counts a video once, and distinguishes a new collection from a replaced one', async () => {
    const collections = openCollections()
    expect(await collections.change('put', 'c', ['a', 'b', 'a'])).toMatchObject({
      isNew: true,
      collection: { videos: ['a', 'b'] },
    })
    expect(await collections.change('put', 'c', ['b'])).toMatchObject({ isNew: false, collection: { videos: ['b'] } })
  })

  it('gives every change its own revision, also after a deletion', async () => {
    const collections = openCollections()
    const revisions: number[] = []
    for (let i = 0; i < 50; i++) {
      revisions.push((await collections.change('put', 'c', [])).collection.revision)
      if (i % 2) await collections.change('delete', 'c')
    }
    expect(new Set(revisions).size).toBe(50)
  })

  it('loses and duplicates none of many videos added at once', async () => {
    const collections = openCollections()
    await collections.change('put', 'c', [])
    const added = await Promise.all(
      [...createIds(50), ...createIds(50)].map((id) => collections.change('addVideo', 'c', id)),
    )
    expect(added.filter(({ isChanged }) => isChanged)).toHaveLength(50)
    expect((await collections.state.get('c'))!.videos.toSorted()).toEqual(createIds(50))
  })

  it('refuses one video too many, and changes to a missing collection', async () => {
    const collections = openCollections()
    await collections.change('put', 'c', createIds(MAX_VIDEOS))
    await expect(collections.change('addVideo', 'c', 'one more')).rejects.toMatchObject({ code: 'COLLECTION_FULL' })
    expect((await collections.change('addVideo', 'c', createIds(1)[0]!)).isChanged).toBe(false)
    await expect(collections.change('addVideo', 'd', 'a')).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
    await expect(collections.change('removeVideo', 'd', 'a')).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
    await expect(collections.change('removeVideo', 'c', 'a')).rejects.toMatchObject({ code: 'VIDEO_NOT_IN_COLLECTION' })
    await expect(collections.change('delete', 'd')).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
  })

  it('reports a change before its caller gets the response', async () => {
    const seen: [string, boolean][] = []
    const collections = openCollections({
      onChange: (id, collection) => void seen.push([id, collection !== undefined]),
    })
    await collections.change('put', 'c', [])
    expect(seen).toEqual([['c', true]])
    await collections.change('delete', 'c')
    expect(seen).toEqual([
      ['c', true],
      ['c', false],
    ])
  })

  it('adds a point to the history only when the sums changed', async () => {
    const collections = openCollections()
    const c = (await collections.change('put', 'c', ['a'])).collection
    const now = Date.now()
    await collections.saveSnapshot(c, snapshot(now, 1))
    await collections.saveSnapshot(c, snapshot(now + 1, 1))
    await collections.saveSnapshot(c, snapshot(now + 2, 2))
    expect(
      (await collections.state.getHistory('c', 0, now + 9, 9)).map(({ at, impressions }) => [at, impressions]),
    ).toEqual([
      [now, 1],
      [now + 2, 2],
    ])
    expect((await collections.state.getSnapshot('c'))!.asOf).toBe(now + 2)
  })

  it('stores no numbers of a deleted collection, and none older than the stored ones', async () => {
    const collections = openCollections()
    await collections.saveSnapshot({ id: 'c', revision: 1 }, snapshot(5))
    expect(await collections.state.getSnapshot('c')).toBeUndefined()
    const c = (await collections.change('put', 'c', ['a'])).collection
    await collections.saveSnapshot(c, snapshot(9))
    await collections.saveSnapshot(c, snapshot(5))
    expect((await collections.state.getSnapshot('c'))!.asOf).toBe(9)
  })

  it.each(['deleted and created again', 'changed'])(
    'stores no numbers that were requested before it was %s',
    async (how) => {
      const collections = openCollections()
      const before = (await collections.change('put', 'c', ['a'])).collection
      const answer = Promise.withResolvers<FetchResult>()
      const client = { idsPerCall: 50, fetch: () => answer.promise }
      const meter = new QuotaMeter(QuotaMeter.createMemory(), 0)
      const upstream = createUpstreamReader({
        collections,
        client,
        meter,
        logger: createSilentLogger(),
        retryAfter: 1_000,
        interval: 1_000,
        timeout: 5_000,
      })
      const reading = upstream.read(before)
      if (how !== 'changed') await collections.change('delete', 'c')
      await collections.change('put', 'c', ['b'])
      answer.resolve({ found: [createNumbers('a')], failed: [] })
      await reading
      expect(await collections.state.getSnapshot('c')).toBeUndefined()
      expect(await collections.state.getHistory('c', 0, Date.now(), 9)).toEqual([])
    },
  )

  it('queues at most a thousand changes, and none for a failed state', async () => {
    const state = createMapState()
    const answer = Promise.withResolvers<void>()
    let puts = 0
    const put = state.put.bind(state)
    const collections = openCollections({
      state: Object.assign(state, {
        async put(...args: Parameters<typeof put>) {
          puts++
          await answer.promise
          return put(...args)
        },
      }),
    })
    const all = Promise.allSettled(createIds(1_100).map((id) => collections.change('put', id, [])))
    const refused = { code: 'STATE_UNAVAILABLE', status: 503, headers: { 'retry-after': '1' } }
    await expect(collections.change('put', 'one more', [])).rejects.toMatchObject(refused)
    answer.reject(errors.STATE_UNAVAILABLE())
    const outcomes = await all
    for (const outcome of outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { status: 503 } })
    expect(puts).toBe(1)
    Object.assign(state, { put })
    expect((await collections.change('put', 'later', [])).isNew).toBe(true)
  })

  it('deletes old points of videos, and videos without data for long', async () => {
    const state = createMapState()
    const collections = openCollections({ state })
    const now = 100 * DAY_MS
    const point = (at: number) => ({ at, impressions: 1, engagements: 1, score: 1, videos: 1 })
    const known = createIds(250)
    for (const id of known) {
      // Half of the details are 31 days old.
      const asOf = Number(id) % 2 ? now - 31 * DAY_MS : now - DAY_MS
      await state.putVideos([{ id, details: { id, asOf } }])
      for (const days of [40, 30, 29]) await state.putVideos([{ id, point: point(now - days * DAY_MS) }])
    }
    await collections.prune(now)
    const left = await state.listVideos('', 1_000)
    expect(left.map(({ id }) => Number(id) % 2)).toEqual(Array.from({ length: 125 }, () => 0))
    for (const [i, id] of known.entries()) {
      const points = await state.getHistory(toHistoryId(id), 0, now, 9)
      expect(points.map(({ at }) => at)).toEqual(i % 2 ? [] : [now - 30 * DAY_MS, now - 29 * DAY_MS])
    }
  })

  it('thins the histories of all collections', async () => {
    const collections = openCollections()
    const now = 100 * DAY_MS
    for (const id of createIds(250)) await collections.change('put', id, ['a'])
    const last = (await collections.state.get(createIds(250)[249]!))!
    for (const [i, at] of [
      now - 40 * DAY_MS,
      now - 2 * DAY_MS,
      now - 2 * DAY_MS + 1,
      now - 2 * DAY_MS + 2,
      now - 5,
    ].entries()) {
      await collections.saveSnapshot(last, snapshot(at, i))
    }
    await collections.prune(now)
    expect((await collections.state.getHistory(createIds(250)[249]!, 0, now, 9)).map(({ at }) => at)).toEqual([
      now - 2 * DAY_MS,
      now - 2 * DAY_MS + 2,
      now - 5,
    ])
  })
})

describe('collections that other machines also change', () => {
  /** A state that shows the changes of another node only after `catchUp`. */
  function openSharedCollections() {
    const state = createMapState()
    const others: (() => unknown)[] = []
    let conflict: (() => unknown) | undefined
    const collections = openCollections({
      state: {
        ...state,
        async catchUp() {
          for (const change of others.splice(0)) await change()
        },
        async put(collection, before) {
          await conflict?.()
          conflict = undefined
          if ((await state.get(collection.id))?.revision !== before?.revision) throw new ConflictError()
          await state.put(collection)
        },
      },
    })
    const setConflict = (change: () => unknown) => void (conflict = change)
    return { state, others, collections, overtake: setConflict }
  }
  const createCollection = (videos: string[], revision: number) => ({ id: 'c', videos, revision })

  it('refuse and evaluate changes by all earlier changes of other nodes', async () => {
    const { state, others, collections } = openSharedCollections()
    others.push(() => state.put(createCollection(['a'], 1)))
    expect((await collections.change('addVideo', 'c', 'b')).collection.videos).toEqual(['a', 'b'])
    others.push(() => state.put(createCollection(['a'], 3)))
    expect(await collections.change('addVideo', 'c', 'a')).toMatchObject({
      isChanged: false,
      collection: { revision: 3 },
    })
    others.push(() => state.delete('c'))
    await expect(collections.change('removeVideo', 'c', 'none')).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
    others.push(() => state.put(createCollection(['a'], 4)))
    await collections.change('delete', 'c')
    await expect(collections.change('delete', 'c')).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
  })

  it('recompute a change after a conflict, with a later revision regardless of the clocks', async () => {
    const { state, collections, overtake: setConflict } = openSharedCollections()
    await state.put(createCollection(['a'], 1))
    const ahead = Date.now() * 1_000 + 60_000_000
    setConflict(() => state.put(createCollection(['a', 'theirs'], ahead)))
    const { collection } = await collections.change('addVideo', 'c', 'ours')
    expect(collection.videos).toEqual(['a', 'theirs', 'ours'])
    expect(collection.revision).toBeGreaterThan(ahead)
  })
})
