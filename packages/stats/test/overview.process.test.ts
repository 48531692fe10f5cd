import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createNumbers } from './support/video-numbers.ts'
import { createPoint, createSnapshot, firstPage, startOverview } from './support/overview.ts'

describe('the growth of a collection', () => {
  const now = [createNumbers('a', 1_000)]
  const hour = 3_600_000

  /** Returns the overview of a collection that had these views at these times. */
  async function startGrown(points: readonly (readonly [hours: number, views: number])[]) {
    const begun = Date.now()
    const { overview } = await startOverview((state) => {
      state.put({ id: 'c', videos: ['a'], revision: 1 })
      for (const [hours, views] of points) {
        const point = createPoint(begun - hours * hour, [createNumbers('a', views)])
        state.putSnapshots([{ id: 'c', snapshot: createSnapshot(now, begun), point }])
      }
      state.putSnapshots([{ id: 'c', snapshot: createSnapshot(now, begun) }])
    })
    const { rows } = await overview.getPage(firstPage)
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
    const { state, overview } = await startOverview((filled) => {
      filled.put({ id: 'c', videos: ['a'], revision: 1 })
      filled.putSnapshots([{ id: 'c', snapshot: createSnapshot(now), point: createPoint(Date.now() - 9 * hour, last) }])
    })
    let looks = 0
    const { getHistory: history } = state
    state.getHistory = (...args) => {
      looks++
      return history(...args)
    }
    const queries = [
      firstPage,
      { ...firstPage, sort: '-24h' },
      { ...firstPage, sort: '7d', withChange: false },
    ] as const
    await Promise.all(Array.from({ length: 30 }, (_, i) => overview.getPage(queries[i % 3]!)))
    expect(looks).toBe(3)
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const expected of expectedLooks) {
      vi.advanceTimersByTime(59_000)
      await overview.getPage(firstPage)
      expect(looks).toBe(expected)
      vi.advanceTimersByTime(2_000)
    }
  })

  it('is absent without a history', async () => {
    expect(await startGrown([])).toBeUndefined()
  })

  it('changes with the collection, and is not that of an earlier collection of the same name', async () => {
    const { collections, overview } = await startOverview((state) => {
      state.put({ id: 'c', videos: ['a'], revision: 1 })
      for (const [hours, numbers] of [
        [9, [createNumbers('a', 1)]],
        [0, now],
      ] as const) {
        const point = createPoint(Date.now() - hours * hour, numbers)
        state.putSnapshots([{ id: 'c', snapshot: createSnapshot(now), point }])
      }
    })
    expect((await overview.getPage(firstPage)).rows[0]!.change!['7d'].impressions).toBe(999)
    await collections.change('delete', 'c')
    expect((await overview.getPage(firstPage)).rows).toEqual([])
    await collections.change('put', 'c', [])
    await waitUntil(async () => (await overview.getRow('c', true))!.change?.['7d'].impressions === 0)
  })
})
