import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Campaign } from '../src/core/campaign.ts'
import type { Point } from '../src/core/history-points.ts'
import { sum, type VideoNumbers } from '../src/core/video-numbers.ts'
import {
  createFilter,
  parseCursor,
  OverviewSelection,
  SORTS,
  toCursor,
  getSortValue,
  type OverviewRow,
} from '../src/campaigns/overview-selection.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { CollectionsOwner } from '../src/campaigns/collections.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { Overview } from '../src/campaigns/overview.ts'
import { Poller } from '../src/refresh/poller.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { createMapState } from '../src/state/map-state.ts'
import { FakeClient } from './support/fake-client.ts'
import { listOf, startFakeYoutube, videoIds } from './support/fake-youtube.ts'
import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { createNumbers } from './support/video-numbers.ts'
import { startStats } from './support/stats.ts'

const growth = fc
  .integer({ min: -2, max: 2 })
  .map((n) => ({ impressions: n, engagements: n, score: n, since: '', until: '' }))
const small = fc.nat(3)
const campaign: fc.Arbitrary<Campaign> = fc.record(
  {
    name: fc.constantFrom('Äpfel', 'apfel', 'Birne 2', 'Birne 10', 'Z', '\u0000"\ud83d', '🌱'),
    tags: fc.subarray(['a', 'B', 'Äp']),
    from: fc.constantFrom('2026-01-01', '2026-01-02'),
    cost: small,
  },
  { requiredKeys: [] },
)
const row: fc.Arbitrary<OverviewRow> = fc
  .record(
    {
      id: fc.stringMatching(/^[abB.~-]{1,3}$/),
      campaign,
      totals: fc.record({ impressions: small, engagements: small, score: small, videos: small }),
      change: fc.record({ '24h': growth, '7d': growth, '30d': growth }),
    },
    { requiredKeys: ['id', 'campaign'] },
  )
  .map(({ id, campaign: said, totals, change }) => ({
    collection: { id, ...said },
    ...(totals && { known: { summary: { ...totals, missing: [], asOf: '2026' }, at: 0 } }),
    ...(change && { change }),
  }))
const rows = fc.uniqueArray(row, { selector: ({ collection }) => collection.id, maxLength: 30 })

describe('an overview', () => {
  it('reads the requested collections in every order, page by page, as a full sort would', () => {
    const names = new Intl.Collator('en', { numeric: true })
    const question = fc.record({
      q: fc.option(fc.constantFrom('', 'a', 'APF', 'b 2', ' äpf ', 'nothing'), { nil: undefined }),
      tag: fc.option(fc.constantFrom('a', 'b', 'Äp'), { nil: undefined }),
    })
    fc.assert(
      fc.property(
        rows,
        question,
        fc.constantFrom(...SORTS),
        fc.integer({ min: 1, max: 7 }),
        (all, query, sort, limit) => {
          const fold = (text: string) => text.normalize('NFKD').toLowerCase()
          const expected = all
            .filter(({ collection: { id, name = '', tags = [] } }) => {
              const text = fold([id, name, ...tags].join('\n'))
              const words = fold(query.q ?? '').split(' ')
              return words.every((word) => text.includes(word)) && (query.tag === undefined || tags.includes(query.tag))
            })
            .toSorted((a, b) => {
              const [x, y] = [getSortValue(a, sort), getSortValue(b, sort)]
              const byId = a.collection.id < b.collection.id ? -1 : 1
              if (x === undefined || y === undefined) return x === y ? byId : x === undefined ? 1 : -1
              const order = sort.endsWith('name') ? names.compare(String(x), String(y)) : x < y ? -1 : x > y ? 1 : 0
              return (sort.startsWith('-') ? -order : order) || byId
            })
          if (sort === '-id') expected.sort((a, b) => (a.collection.id < b.collection.id ? 1 : -1))
          const matches = createFilter(query)
          const seen: OverviewRow[] = []
          for (let cursor: string | undefined, pages = 0; ;) {
            const selection = new OverviewSelection(
              sort,
              limit,
              cursor === undefined ? undefined : parseCursor(sort, cursor)!,
            )
            for (const one of all) if (matches(one.collection)) selection.offer(one)
            const page = selection.getPage()
            expect(page.rows.length).toBeLessThanOrEqual(limit)
            expect(++pages).toBeLessThanOrEqual(all.length + 1)
            seen.push(...page.rows)
            if (!page.end) break
            cursor = toCursor(sort, page.end)
            expect(cursor).toMatch(/^[A-Za-z0-9._~-]+$/)
          }
          expect(seen.map(({ collection }) => collection.id)).toEqual(expected.map(({ collection }) => collection.id))
        },
      ),
      { numRuns: 500 },
    )
  })

  it('refuses a cursor of another order', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const position = parseCursor('-impressions', Buffer.from(text).toString('base64url'))
        if (position) expect(JSON.parse(text)).toEqual([position[0] ?? null, position[1]])
      }),
    )
  })
})

/** A poller over a state in memory, and an overview of its rows. */
async function setUp(fillRows: (state: ReturnType<typeof createMapState>) => void | Promise<void>) {
  const state = createMapState()
  await fillRows(state)
  const client = new FakeClient()
  client.down = true
  const collections = new CollectionsOwner({
    state,
    retention: 30 * DAY_MS,
    onChange: (id, c) => poller.onCollectionChange(id, c),
  })
  const poller: Poller = new Poller({
    collections,
    client,
    meter: new QuotaMeter(QuotaMeter.createMemory(), 100),
    logger: createSilentLogger(),
    refreshInterval: 3_600_000,
    connections: 4,
    readTimeout: 100,
    publish: async () => {},
  })
  await poller.start()
  onTestFinished(async () => {
    await poller.close()
    await collections.close()
  })
  return { state, collections, overview: new Overview(poller.rows, collections) }
}

const snapshotOf = (videos: readonly VideoNumbers[], asOf = Date.now()) => ({ videos, missing: [], asOf })
const pointOf = (at: number, videos: readonly VideoNumbers[]): Point => ({ at, ...sum(videos) })
const base = { limit: 10, withChange: true, sort: 'id' } as const

describe('the growth of a collection', () => {
  const now = [createNumbers('a', 1_000)]
  const hour = 3_600_000

  /** Returns the overview of a collection that had these views at these times. */
  async function startGrown(points: readonly (readonly [hours: number, views: number])[]) {
    const begun = Date.now()
    const { overview } = await setUp((state) => {
      state.put({ id: 'c', videos: ['a'], revision: 1 })
      for (const [hours, views] of points) {
        const point = pointOf(begun - hours * hour, [createNumbers('a', views)])
        state.putSnapshots([{ id: 'c', snapshot: snapshotOf(now, begun), point }])
      }
      state.putSnapshots([{ id: 'c', snapshot: snapshotOf(now, begun) }])
    })
    const { rows } = await overview.getPage(base)
    const { change } = rows[0]!
    return change && Object.values(change).map(({ impressions, since }) => [impressions, begun - Date.parse(since)])
  }

  it('of points of version 0.2 is interpolated between near ones, otherwise that since the next point', async () => {
    const points = [
      [900, 1],
      [721, 100],
      [700, 200],
      [169, 300],
      [167, 400],
      [30, 500],
      [25, 600],
      [22, 700],
      [0, 1_000],
    ] as const
    expect(await startGrown(points)).toEqual([
      [300, 22 * hour],
      [650, 168 * hour],
      [895, 720 * hour],
    ])
  })

  it('begins, with a mark, at the first point if there is no earlier one', async () => {
    expect(
      await startGrown([
        [30, 400],
        [2, 900],
        [0, 1_000],
      ]),
    ).toEqual([
      [100, 2 * hour],
      [600, 30 * hour],
      [600, 30 * hour],
    ])
  })

  it('ends with the last point while the history lacks newer numbers', async () => {
    expect(
      await startGrown([
        [30, 400],
        [2, 900],
      ]),
    ).toEqual([
      [0, 2 * hour],
      [500, 30 * hour],
      [500, 30 * hour],
    ])
  })

  it.each([
    ['for good where the history has the numbers', now, [3, 3]],
    ['and again after a while where it does not yet', [createNumbers('a', 1)], [3, 6]],
  ])('is computed once for all concurrent requests, %s', async (_, last, expectedLooks) => {
    const { state, overview } = await setUp((filled) => {
      filled.put({ id: 'c', videos: ['a'], revision: 1 })
      filled.putSnapshots([{ id: 'c', snapshot: snapshotOf(now), point: pointOf(Date.now() - 9 * hour, last) }])
    })
    let looks = 0
    const { getHistory: history } = state
    state.getHistory = (...args) => {
      looks++
      return history(...args)
    }
    const queries = [base, { ...base, sort: '-24h' }, { ...base, sort: '7d', withChange: false }] as const
    await Promise.all(Array.from({ length: 30 }, (_, i) => overview.getPage(queries[i % 3]!)))
    expect(looks).toBe(3)
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const expected of expectedLooks) {
      vi.advanceTimersByTime(59_000)
      await overview.getPage(base)
      expect(looks).toBe(expected)
      vi.advanceTimersByTime(2_000)
    }
  })

  it('is absent without a history', async () => {
    expect(await startGrown([])).toBeUndefined()
  })

  it('changes with the collection, and is not that of an earlier collection of the same name', async () => {
    const { collections, overview } = await setUp((state) => {
      state.put({ id: 'c', videos: ['a'], revision: 1 })
      for (const [hours, numbers] of [
        [9, [createNumbers('a', 1)]],
        [0, now],
      ] as const) {
        const point = pointOf(Date.now() - hours * hour, numbers)
        state.putSnapshots([{ id: 'c', snapshot: snapshotOf(now), point }])
      }
    })
    expect((await overview.getPage(base)).rows[0]!.change!['7d'].impressions).toBe(999)
    await collections.delete('c')
    expect((await overview.getPage(base)).rows).toEqual([])
    await collections.put('c', [])
    await waitUntil(async () => (await overview.getRow('c', true))!.change?.['7d'].impressions === 0)
  })
})

describe('10,000 collections', () => {
  const COLLECTIONS = 10_000

  it('take less than 50 ms per page, in pieces with other work between them', async () => {
    const { overview } = await setUp((state) => {
      for (let i = 0; i < COLLECTIONS; i++) {
        const id = `c${String(i).padStart(5, '0')}`
        const videos = videoIds(10, i * 10)
        const numbers = videos.map((video, j) => createNumbers(video, (i * 7919 + j) % 100_003))
        state.put({ id, videos, revision: 1, name: `Campaign ${(i * 31) % COLLECTIONS}`, tags: [`t${i % 7}`] })
        for (const [days, last] of [
          [2, [createNumbers('a', i)]],
          [0, numbers],
        ] as const) {
          const point = pointOf(Date.now() - days * DAY_MS, last)
          state.putSnapshots([{ id, snapshot: snapshotOf(numbers), point }])
        }
      }
    })
    for (const query of [
      { sort: 'id' },
      { sort: '-impressions' },
      { sort: 'name', q: 'campaign 9' },
      { sort: '-24h', tag: 't3' },
      { sort: '7d' },
      { sort: '-rate' },
    ] as const) {
      const listIds = () => overview.getPage({ ...base, ...query, limit: 100 })
      const all = (await listIds()).rows
      expect(all).toHaveLength(100)
      const before = process.threadCpuUsage()
      const { result, held } = await measureLongestHold(listIds)
      const { user, system } = process.threadCpuUsage(before)
      expect(result.rows).toEqual(all)
      expect((user + system) / 1_000).toBeLessThan(50)
      expect(held).toBeLessThan(30)
      const period = ['24h', '7d'].find((name) => query.sort.endsWith(name)) as '24h' | '7d' | undefined
      if (!period) continue
      const sign = query.sort.startsWith('-') ? -1 : 1
      const grown = result.rows.map(({ change }) => sign * change![period].impressions)
      expect(grown).toEqual(grown.toSorted((a, b) => a - b))
    }
  })
})

describe.each(['v3', 'v6', 'v8'])('GET /collections with numbers: %s', (variant) => {
  it('returns the sums, the costs and the growth of a page in one request', async () => {
    const youtube = await startFakeYoutube()
    youtube.handler = (ids, reply) => reply.end(listOf(ids, 2_000))
    const stats = await startStats({ variant, youtubeUri: youtube.url, data: createTemporaryFolder(), dailyBudget: 0 })
    onTestFinished(() => stats.stop().then(() => {}))
    const [a, b, c] = videoIds(3)
    await stats.put('/collections/one', { videos: [a], name: 'Spring <1>', tags: ['x'], cost: 50, currency: 'EUR' })
    await stats.put('/collections/two', { videos: [a, b, c], name: 'Summer', tags: ['x', 'y'], cost: 0 })
    await stats.put('/collections/three', { videos: [] })
    const sums = new Map<string, any>()
    for (const id of ['one', 'two', 'three']) sums.set(id, (await stats.get(`/collections/${id}/stats`)).body)
    const listIds = async (query: string) => (await stats.get(`/collections?${query}`)).body
    const idsOf = async (query: string) => (await listIds(query)).collections.map(({ id }: { id: string }) => id)

    const { collections, next } = await waitUntil(async () => {
      const body = await listIds('include=stats,change&sort=-impressions')
      return body.collections.every(({ change }: any) => change) && body
    })
    expect(next).toBeUndefined()
    expect(collections.map(({ id }: { id: string }) => id)).toEqual(['two', 'one', 'three'])
    for (const { id, stats: rendered, change } of collections) {
      expect(rendered).toMatchObject({ ...sums.get(id), asOf: expect.any(String) })
      expect(change['24h']).toMatchObject({ impressions: 0, engagements: 0, score: 0, since: expect.any(String) })
    }
    expect(collections[1]).toMatchObject({ name: 'Spring <1>', videos: [a], tags: ['x'], cost: 50, currency: 'EUR' })
    expect(collections.map(({ costs }: any) => costs)).toEqual([
      { perThousandViews: 0, perEngagement: 0 },
      { perThousandViews: 25, perEngagement: 50 / 15 },
      undefined,
    ])
    const one = (await stats.get('/collections/one?include=stats,change')).body
    expect({ ...one, stats: { ...one.stats, asOf: '' } }).toEqual({
      ...collections[1],
      stats: { ...collections[1].stats, asOf: '' },
    })
    expect((await stats.get('/collections/one?include=change')).body).not.toHaveProperty('stats')
    expect((await stats.get('/collections/none?include=stats')).body.code).toBe('COLLECTION_NOT_FOUND')

    expect(await idsOf('sort=name')).toEqual(['one', 'two', 'three'])
    expect(await idsOf('sort=-id')).toEqual(['two', 'three', 'one'])
    expect(await idsOf('q=sPRing')).toEqual(['one'])
    expect(await idsOf('tag=x')).toEqual(['one', 'two'])
    expect(await idsOf('tag=x&q=umm&include=stats')).toEqual(['two'])
    expect(await idsOf('tag=X')).toEqual([])
    const first = await listIds('sort=-impressions&limit=2')
    expect(first.collections[0]).not.toHaveProperty('stats')
    expect(await idsOf(`sort=-impressions&limit=2&after=${first.next}`)).toEqual(['three'])
    const wrong = await stats.get('/collections?sort=-impressions&after=one')
    expect(wrong).toMatchObject({ status: 409, body: { code: 'INVALID_CURSOR' } })
    for (const query of ['sort=views', 'include=videos', 'q=a&q=b', `q=${'x'.repeat(201)}`, 'after=a!', 'page=2']) {
      expect(await stats.get(`/collections?${query}`)).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    }
    expect(await listIds('limit=2')).toMatchObject({ collections: [{ id: 'one' }, { id: 'three' }], next: 'three' })
  })
})
