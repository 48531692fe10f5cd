import { expectShortHold, measureLongestHold } from '@influencer-stats/runtime/testing/longest-hold'
import { openLevel } from '@influencer-stats/runtime/level'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CollectionsOwner } from '../src/campaigns/collections-owner.ts'
import type { Point } from '../src/core/history-points.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import { readHistoryPages } from '../src/campaigns/history-pages.ts'
import { createLevelState } from '../src/state/level-state.ts'
import { createMapState } from '../src/state/map-state.ts'
import { startStats } from './support/stats.ts'

// A page of points costs less than 5 ms, and the garbage collection of one some ten times that. All points at once hold
// the event loop for 500 ms or more.
const POINTS = 86_000
const MAX_HOLD_MS = 120

const START = Date.now() - DAY_MS / 2
const pointAt = (i: number): Point => ({ at: START + i, impressions: i, engagements: 2, score: 3, videos: 1 })

/** A folder with a collection `c` whose history is long. */
async function createLongHistory(): Promise<string> {
  const folder = createTemporaryFolder()
  const db = await openLevel(folder, { service: 'stats', format: 1 })
  await db.put('c!c', JSON.stringify({ id: 'c', videos: [], revision: 1 }))
  const key = (at: number) => `h!c!${String(at).padStart(16, '0')}`
  await db.batch(
    Array.from({ length: POINTS }, (_, i) => ({
      type: 'put' as const,
      key: key(START + i),
      value: JSON.stringify(pointAt(i)),
    })),
  )
  await db.close()
  return folder
}

async function openLongHistory() {
  const state = await createLevelState({ folder: await createLongHistory() })
  const collections = new CollectionsOwner({ state, retention: 30 * DAY_MS })
  onTestFinished(() => collections.close())
  return { state, collections }
}

describe('a long history', () => {
  it('is sent in pieces, with other work between them, also with one point per step', async () => {
    const stats = await startStats({ data: await createLongHistory(), youtubeUri: 'http://127.0.0.1:9', threads: 0 })
    const to = new Date(START + POINTS).toISOString()
    const read = async (query = '') => {
      const url = `${stats.url}/collections/c/stats/history?to=${to}${query}`
      const result = await expectShortHold(MAX_HOLD_MS, () =>
        measureLongestHold(async () => Array.fromAsync((await fetch(url)).body!)),
      )
      return JSON.parse(Buffer.concat(result).toString()).points
    }
    const all = await read()
    expect(all).toHaveLength(POINTS)
    for (const i of [0, 1, 499, 500, 501, POINTS - 1]) {
      expect(all[i]).toEqual({ ...pointAt(i), at: new Date(START + i).toISOString() })
    }
    expect(new Set(all.map(({ at }: { at: string }) => at)).size).toBe(POINTS)
    const lastOfEach = new Map(all.map((one: { at: string }) => [Math.floor(Date.parse(one.at) / 1000), one]))
    expect(await read('&step=1')).toEqual([...lastOfEach.values()])
    await stats.stop()
  })

  it('in memory lets other work run, too', async () => {
    const state = createMapState()
    await state.put({ id: 'c', videos: [], revision: 1 })
    for (let i = 0; i < 5_000; i++)
      await state.putSnapshots([{ id: 'c', snapshot: { videos: [], missing: [], asOf: i }, point: pointAt(i) }])
    let turns = 0
    let pages = 0
    for await (const _page of readHistoryPages(state, 'c', 0, Date.now())) {
      // The time of the first turn begins after its first page.
      expect(turns).toBe(pages < 2 ? 0 : pages)
      pages++
      setImmediate(() => turns++)
      // Uses the time of the turn.
      for (const end = performance.now() + 6; performance.now() < end;);
    }
    expect(pages).toBeGreaterThan(5)
  })

  it('is thinned in pieces', async () => {
    const state = await expectShortHold(MAX_HOLD_MS, async () => {
      const { state, collections } = await openLongHistory()
      const { held } = await measureLongestHold(() => collections.prune(START + 3 * DAY_MS))
      return { result: state, held }
    })
    const hours = new Set(Array.from({ length: POINTS }, (_, i) => Math.floor((START + i) / 3_600_000)))
    const left = await state.getHistory('c', 0, Date.now(), POINTS)
    const [first, ...lasts] = left
    expect(first!.at).toBe(START)
    expect(lasts.map(({ at }) => Math.floor(at / 3_600_000))).toEqual([...hours])
  })

  it('is deleted in pieces, too', async () => {
    const state = await expectShortHold(MAX_HOLD_MS, async () => {
      const { state, collections } = await openLongHistory()
      const { result, held } = await measureLongestHold(() => collections.change('delete', 'c'))
      expect(result.isChanged).toBe(true)
      return { result: state, held }
    })
    expect(await state.getHistory('c', 0, Date.now(), POINTS)).toEqual([])
  })
})
