import { measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import { Overview } from '../src/campaigns/overview.ts'
import type { Point } from '../src/core/history-points.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { sum, type VideoNumbers } from '../src/core/video-numbers.ts'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { Poller } from '../src/refresh/poller.ts'
import { createMapState } from '../src/state/map-state.ts'
import { FakeClient } from './support/fake-client.ts'
import { videoIds } from './support/fake-youtube.ts'
import { createNumbers } from './support/video-numbers.ts'

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
  return { state, collections, overview: new Overview(poller.rows, state) }
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
    await collections.change('delete', 'c')
    expect((await overview.getPage(base)).rows).toEqual([])
    await collections.change('put', 'c', [])
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
