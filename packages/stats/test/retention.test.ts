import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pruneCollections, pruneVideos } from '../src/campaigns/retention.ts'
import { findPointsToPrune, type Point } from '../src/core/history-points.ts'
import { toRetentionTiers } from '../src/core/history/retention-tiers.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { createMapState } from '../src/state/map-state.ts'
import { toHistoryId, type StatsState } from '../src/state/stats-state.ts'

const HOUR_MS = 3_600_000
const END_MS = 1_000 * DAY_MS + 5 * HOUR_MS
const tiers = { hourly: 30 * DAY_MS, daily: 90 * DAY_MS }

const toPoint = (at: number): Point => ({ at, impressions: 1, engagements: 1, score: 1, videos: 1 })

/** Times up to `days` before the end: scattered, or many within two days. */
const times = (days: number) => {
  const within = (min: number, max: number) =>
    fc.uniqueArray(fc.integer({ min: END_MS - max * DAY_MS, max: END_MS - min * DAY_MS }), { maxLength: 200 })
  return fc
    .oneof(within(0, days), within(2, 3), within(29, 31), within(60, 62))
    .map((unsorted) => unsorted.sort((a, b) => a - b))
}

const toBucket = (at: number, length: number) => Math.floor(at / length)

describe('retention', () => {
  it('has tiers of days and months, and none of months if that is shorter', () => {
    expect(toRetentionTiers({ historyDays: 30, historyMonths: 0 })).toEqual({ hourly: 30 * DAY_MS, daily: 30 * DAY_MS })
    const { hourly, daily } = toRetentionTiers({ historyDays: 30, historyMonths: 25 })
    expect(hourly).toBe(30 * DAY_MS)
    expect(daily / DAY_MS).toBeCloseTo(760.9, 1)
    expect(toRetentionTiers({ historyDays: 3_650, historyMonths: 25 }).daily).toBe(3_650 * DAY_MS)
  })

  it('retains every point of a day, then the last per hour, then the last per day, and the first after a gap', () => {
    fc.assert(
      fc.property(times(100), (all) => {
        const pruned = new Set(findPointsToPrune(all.map(toPoint), END_MS, tiers))
        const retained = all.filter((at) => !pruned.has(at))
        const stored = all.filter((at) => at >= END_MS - tiers.daily)
        expect(retained.every((at) => at >= END_MS - tiers.daily)).toBe(true)
        for (const [i, at] of stored.entries()) {
          const length = at < END_MS - tiers.hourly ? DAY_MS : HOUR_MS
          const others = stored.filter((other) => toBucket(other, length) === toBucket(at, length))
          const isLast = at === others.at(-1)
          const gap = at - (retained.findLast((other) => other < at) ?? -Infinity)
          const isAfterGap = at === others[0] && gap > length
          expect(retained.includes(at)).toBe(at >= END_MS - DAY_MS || isLast || isAfterGap)
          // No gap of the history looks longer than it was by more than its hour or day.
          if (i > 0 && at - stored[i - 1]! > 2 * length) expect(retained).toContain(at)
        }
      }),
    )
  })

  it('loses the last point of no day', () => {
    fc.assert(
      fc.property(times(100), (all) => {
        const pruned = new Set(findPointsToPrune(all.map(toPoint), END_MS, tiers))
        const stored = all.filter((at) => at >= END_MS - tiers.daily)
        const toDay = (at: number) => toBucket(at, DAY_MS)
        const lasts = stored.filter((at, i) => i === stored.length - 1 || toDay(stored[i + 1]!) !== toDay(at))
        expect(lasts.filter((at) => pruned.has(at))).toEqual([])
      }),
    )
  })

  const readTimes = async (state: StatsState, id: string) => {
    const points = await state.getHistory(id, 0, END_MS + 200 * DAY_MS, 10_000)
    return points.map(({ at }) => at)
  }

  it.each([['collections'], ['videos']])(
    'of %s, in passes over new parts, deletes what one whole pass deletes',
    async (kind) => {
      const id = kind === 'videos' ? toHistoryId('v') : 'c'
      const prune = kind === 'videos' ? pruneVideos : pruneCollections
      async function fill(all: readonly number[]) {
        const state = createMapState()
        await state.put({ id: 'c', videos: [], revision: 1 })
        await state.putVideos([{ id: 'v', details: { id: 'v', asOf: END_MS + 1_000 * DAY_MS } }])
        for (const at of all) {
          if (kind === 'videos') await state.putVideos([{ id: 'v', point: toPoint(at) }])
          else
            await state.putSnapshots([{ id: 'c', snapshot: { videos: [], missing: [], asOf: at }, point: toPoint(at) }])
        }
        return state
      }
      const passes = fc.array(fc.integer({ min: 1, max: 40 * 24 }), { minLength: 1, maxLength: 8 })
      await fc.assert(
        fc.asyncProperty(times(100), passes, async (all, hours) => {
          const [inPasses, atOnce] = [await fill(all), await fill(all)]
          let now = END_MS
          await prune(inPasses, tiers, now)
          for (const length of hours) {
            const prunedAt = now
            now += length * HOUR_MS
            await prune(inPasses, tiers, now, prunedAt)
          }
          await prune(atOnce, tiers, now)
          const [left, whole] = [await readTimes(inPasses, id), await readTimes(atOnce, id)]
          for (const at of all.filter((one) => one >= now - tiers.daily)) {
            const length = at < now - tiers.hourly ? DAY_MS : HOUR_MS
            const isSame = (other: number) => toBucket(other, length) === toBucket(at, length)
            const isLast = at === all.findLast(isSame)
            if (isLast) expect(left).toContain(at)
            // A pass leaves the last point that it reads to the next pass. Deleted points may make a gap longer.
            const isAtEdge = [DAY_MS, tiers.hourly].some((age) => Math.abs(at - (now - age)) < length)
            const isFirst = at === left.find(isSame)
            if (!whole.includes(at) && !isAtEdge && !isFirst) expect(left).not.toContain(at)
          }
          expect(left.every((at) => at >= now - tiers.daily)).toBe(true)
        }),
        { numRuns: 300 },
      )
    },
  )

  it('reads only the parts of long histories that have become old enough', async () => {
    const state = createMapState()
    await state.put({ id: 'c', videos: [], revision: 1 })
    for (let at = END_MS - 100 * DAY_MS; at < END_MS; at += HOUR_MS) {
      const snapshot = { videos: [], missing: [], asOf: at }
      await state.putSnapshots([{ id: 'c', snapshot, point: toPoint(at) }])
    }
    let count = 0
    const counted: StatsState = {
      ...state,
      async getHistory(...args) {
        const points = await state.getHistory(...args)
        count += points.length
        return points
      },
    }
    await pruneCollections(counted, tiers, END_MS)
    expect(count).toBe(2_400)
    expect(await readTimes(state, 'c')).toHaveLength(60 + 30 * 24)
    count = 0
    await pruneCollections(counted, tiers, END_MS + HOUR_MS, END_MS)
    expect(count).toBeLessThan(50)
  })
})
