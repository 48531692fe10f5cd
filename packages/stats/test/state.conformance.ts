import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Point } from '../src/core/history-points.ts'
import type { Snapshot } from '../src/core/video-numbers.ts'
import type { VideoDetails } from '../src/core/video-details.ts'
import type { RecordKeyRange } from '../src/core/record-kinds.ts'
import { toHistoryId, type Collection, type StatsState } from '../src/state/stats-state.ts'
import { testRecordRetention } from './record-retention.conformance.ts'
import { testTrash } from './trash.conformance.ts'
import { createNumbers } from './support/video-numbers.ts'

const collection = (id: string, videos: string[] = [], revision = 1): Collection => ({ id, videos, revision })
const snapshot = (asOf: number): Snapshot => ({ videos: [createNumbers('-4lB5EKS5Uk')], missing: [], asOf })
const point = (at: number): Point => ({ at, impressions: at, engagements: 2, score: 3, videos: 1 })

/**
 * Conformance suite of every state.
 * @param open opens a new, empty state
 */
export function testState(name: string, open: () => Promise<StatsState>): void {
  describe(`state ${name}`, () => {
    let state: StatsState
    beforeEach(async () => {
      state = await open()
    })
    afterEach(() => state.close())

    const put = async (next: Collection) => state.put(next, await state.get(next.id))
    const remove = async (id: string) => state.delete(id, await state.get(id))

    it('is empty at first', async () => {
      expect(await state.get('a')).toBeUndefined()
      expect(await state.getSnapshot('a')).toBeUndefined()
      expect(await state.getHistory('a', 0, Date.now(), 100)).toEqual([])
      expect(await state.list('', 10)).toEqual([])
      expect(await state.getUsage()).toBeUndefined()
    })

    it('returns stored collections, the last put winning', async () => {
      await put(collection('a', ['-4lB5EKS5Uk']))
      await put(collection('a', ['1FEFpk-uIYo', '-jlLkTtgWUk'], 2))
      expect(await state.get('a')).toEqual(collection('a', ['1FEFpk-uIYo', '-jlLkTtgWUk'], 2))
    })

    it('lists in the order of ids, after an id, up to a limit', async () => {
      for (const id of ['b', 'a~', 'a', 'Z', 'c', '1']) await put(collection(id))
      const ids = async (after: string, limit: number) => (await state.list(after, limit)).map(({ id }) => id)
      expect(await ids('', 10)).toEqual(['1', 'Z', 'a', 'a~', 'b', 'c'])
      expect(await ids('a', 2)).toEqual(['a~', 'b'])
      expect(await ids('c', 2)).toEqual([])
    })

    it('stores the last snapshot, and a point for each that has one', async () => {
      await put(collection('a'))
      await state.putSnapshots([{ id: 'a', snapshot: snapshot(1), point: point(1) }])
      await state.putSnapshots([{ id: 'a', snapshot: snapshot(2) }])
      await state.putSnapshots([{ id: 'a', snapshot: snapshot(3), point: point(3) }])
      expect(await state.getSnapshot('a')).toEqual(snapshot(3))
      expect(await state.getHistory('a', 0, 10, 100)).toEqual([point(1), point(3)])
    })

    it('returns the snapshots of a page, undefined for those without', async () => {
      for (const id of ['a', 'a.b', 'b', 'c', 'd']) await put(collection(id))
      for (const [at, id] of ['a', 'b', 'c'].entries()) await state.putSnapshots([{ id: id, snapshot: snapshot(at) }])
      const page = (await state.list('', 4)).map(({ id }) => id)
      expect(await state.getSnapshots(page)).toEqual([snapshot(0), undefined, snapshot(1), snapshot(2)])
      expect(await state.getSnapshots(['d'])).toEqual([undefined])
      expect(await state.getSnapshots([])).toEqual([])
    })

    it('returns the history between two times, both inclusive, in order', async () => {
      await put(collection('a'))
      await put(collection('ab'))
      for (const at of [9, 10, 11, 100])
        await state.putSnapshots([{ id: 'a', snapshot: snapshot(at), point: point(at) }])
      await state.putSnapshots([{ id: 'ab', snapshot: snapshot(10), point: point(10) }])
      expect(await state.getHistory('a', 10, 100, 100)).toEqual([point(10), point(11), point(100)])
      expect(await state.getHistory('a', 10, 100, 2)).toEqual([point(10), point(11)])
      expect(await state.getHistory('a', 12, 99, 100)).toEqual([])
      expect(await state.getHistory('a', 100, 10, 100)).toEqual([])
    })

    it('returns the last point at or before a time', async () => {
      const hour = 3_600_000
      for (const id of ['a', 'ab']) await put(collection(id))
      expect(await state.getPointAt('a', 10)).toBeUndefined()
      const times = [10, 11, 5 * hour, 400 * hour]
      for (const at of times) await state.putSnapshots([{ id: 'a', snapshot: snapshot(at), point: point(at) }])
      await state.putSnapshots([{ id: 'ab', snapshot: snapshot(9), point: point(9) }])
      for (const at of [-5, 0, 9, 10, 11, 12, 3 * hour, 5 * hour, 9 * hour, 400 * hour - 1, 400 * hour, 999 * hour]) {
        const last = times.findLast((time) => time <= at)
        expect([at, await state.getPointAt('a', at)]).toEqual([at, last === undefined ? undefined : point(last)])
      }
    })

    it('inserts a point in order, also after the clock was set back, once for each time', async () => {
      await put(collection('a'))
      for (const at of [5, 9, 7, 9]) await state.putSnapshots([{ id: 'a', snapshot: snapshot(at), point: point(at) }])
      expect(await state.getHistory('a', 0, 100, 100)).toEqual([point(5), point(7), point(9)])
      expect(await state.getHistory('a', 7, 9, 100)).toEqual([point(7), point(9)])
    })

    it('deletes single points', async () => {
      await put(collection('a'))
      for (const at of [1, 2, 3]) await state.putSnapshots([{ id: 'a', snapshot: snapshot(at), point: point(at) }])
      await state.deletePoints('a', [1, 3, 7])
      expect(await state.getHistory('a', 0, 10, 100)).toEqual([point(2)])
    })

    it('deletes a collection with its numbers and its history, and no other data', async () => {
      for (const id of ['a', 'ab']) {
        await put(collection(id))
        await state.putSnapshots([{ id: id, snapshot: snapshot(1), point: point(1) }])
      }
      await remove('a')
      expect(await state.get('a')).toBeUndefined()
      expect(await state.getSnapshot('a')).toBeUndefined()
      expect(await state.getHistory('a', 0, 10, 100)).toEqual([])
      expect(await state.get('ab')).toEqual(collection('ab'))
      expect(await state.getHistory('ab', 0, 10, 100)).toEqual([point(1)])
      await remove('never there')
    })

    it('stores the details and histories of videos separately from all collections', async () => {
      const details = (id: string, asOf: number): VideoDetails => ({ id, title: `<${id}>`, asOf })
      const [first, second, third] = ['-4lB5EKS5Uk', 'AAAAAAAAAAA', '_aaaaaaaaaa'] as const
      expect(await state.getVideos([first])).toEqual([undefined])
      expect(await state.getVideos([])).toEqual([])
      await put(collection(first, [first]))
      await state.putSnapshots([{ id: first, snapshot: snapshot(1), point: point(1) }])
      await state.putVideos([
        { id: third, details: details(third, 1), point: point(3) },
        { id: first, details: details(first, 1), point: point(2) },
        { id: second, point: point(7) },
      ])
      await state.putVideos([
        { id: first, details: details(first, 2), point: point(4) },
        { id: second, point: point(8) },
      ])
      expect(await state.getVideos([third, 'BBBBBBBBBBB', first, second])).toEqual([
        details(third, 1),
        undefined,
        details(first, 2),
        undefined,
      ])
      expect(await state.getHistory(toHistoryId(first), 0, 10, 100)).toEqual([point(2), point(4)])
      expect(await state.getHistory(toHistoryId(second), 8, 10, 100)).toEqual([point(8)])
      expect(await state.getPointAt(toHistoryId(first), 3)).toEqual(point(2))
      expect(await state.getHistory(first, 0, 10, 100)).toEqual([point(1)])
      expect((await state.list('', 10)).map(({ id }) => id)).toEqual([first])
      expect(await state.listVideos('', 10)).toEqual([details(first, 2), details(third, 1)])
      expect(await state.listVideos('', 1)).toEqual([details(first, 2)])
      expect(await state.listVideos(first, 10)).toEqual([details(third, 1)])
      await remove(first)
      expect(await state.getHistory(toHistoryId(first), 0, 10, 100)).toEqual([point(2), point(4)])
      await state.deletePoints(toHistoryId(first), [2])
      await state.deleteVideos([first, 'BBBBBBBBBBB'])
      expect(await state.listVideos('', 10)).toEqual([details(third, 1)])
      expect(await state.getHistory(toHistoryId(first), 0, 10, 100)).toEqual([point(4)])
    })

    it('stores records by kind and key, and lists ranges of them in the order of their keys', async () => {
      const value = (n: number) => ({ n, text: `${n}"é` })
      expect(await state.getRecords('channel', ['UCa'])).toEqual([undefined])
      expect(await state.listRecords('feed', { limit: 9 })).toEqual([])
      const keys = ['a/1', 'a/2', 'a/2/x', 'a~/1', 'b/1', 'A/1', '-/1', 'a']
      await state.putRecords(keys.map((key, n) => ({ kind: 'channel-point', key, value: value(n) })))
      await state.putRecords([
        { kind: 'channel', key: 'a/1', value: value(70) },
        { kind: 'feed', key: 'a/1', value: value(71) },
      ])
      expect(await state.getRecords('channel-point', ['b/1', 'c', '-/1'])).toEqual([value(4), undefined, value(6)])
      expect(await state.getRecords('channel', ['a/1'])).toEqual([value(70)])
      expect(await state.getRecords('channel', [])).toEqual([])
      const list = async (range: RecordKeyRange, limit = 9) =>
        (await state.listRecords('channel-point', { ...range, limit })).map(({ key }) => key)
      expect(await list({})).toEqual(['-/1', 'A/1', 'a', 'a/1', 'a/2', 'a/2/x', 'a~/1', 'b/1'])
      expect(await list({}, 2)).toEqual(['-/1', 'A/1'])
      expect(await list({ prefix: 'a/' })).toEqual(['a/1', 'a/2', 'a/2/x'])
      expect(await list({ prefix: 'a/2' })).toEqual(['a/2/x'])
      expect(await list({ prefix: 'a/', after: 'a/1' })).toEqual(['a/2', 'a/2/x'])
      expect(await list({ prefix: 'a/', after: 'A' }, 1)).toEqual(['a/1'])
      expect(await list({ prefix: 'a/', after: 'a/9' })).toEqual([])
      expect(await list({ prefix: 'a/', after: 'b' })).toEqual([])
      expect(await list({ prefix: 'a/', until: 'a/2' })).toEqual(['a/1', 'a/2'])
      expect(await list({ prefix: 'a/', until: 'A/9' })).toEqual([])
      expect(await list({ prefix: 'a/', until: 'b/9' })).toEqual(['a/1', 'a/2', 'a/2/x'])
      expect(await list({ after: 'a/1', until: 'a~/1' })).toEqual(['a/2', 'a/2/x', 'a~/1'])
      expect(await state.listRecords('feed', { limit: 9 })).toEqual([{ kind: 'feed', key: 'a/1', value: value(71) }])
      await state.putRecords([
        { kind: 'channel-point', key: 'a/2' },
        { kind: 'channel-point', key: 'never there' },
        { kind: 'channel', key: 'a/1', value: value(80) },
        { kind: 'channel', key: 'new', value: value(81) },
      ])
      expect(await list({ prefix: 'a/' })).toEqual(['a/1', 'a/2/x'])
      expect(await state.getRecords('channel', ['a/1'])).toEqual([value(80)])
      expect(await state.getRecords('channel', ['new'])).toEqual([value(81)])
      expect(await state.list('', 10)).toEqual([])
    })

    testTrash(() => state)
    testRecordRetention(() => state)

    it('stores the usage of the quota', async () => {
      await state.putUsage({ day: '2026-11-20', used: 7 })
      await state.putUsage({ day: '2026-11-20', used: 8 })
      expect(await state.getUsage()).toEqual({ day: '2026-11-20', used: 8 })
    })

    it('agrees with a Map after any puts and deletions', async () => {
      const id = fc.constantFrom('a', 'a.b', 'a~', 'b', 'B', '0')
      const step = fc.oneof(
        fc.record({ op: fc.constant('put' as const), id, revision: fc.integer() }),
        fc.record({ op: fc.constant('delete' as const), id }),
      )
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 20 }),
          id,
          fc.integer({ min: 1, max: 7 }),
          async (steps, after, limit) => {
            for (const known of await state.list('', 100)) await remove(known.id)
            const model = new Map<string, Collection>()
            for (const one of steps) {
              if (one.op === 'put') {
                await put(collection(one.id, [], one.revision))
                model.set(one.id, collection(one.id, [], one.revision))
              } else {
                await remove(one.id)
                model.delete(one.id)
              }
            }
            const ids = [...model.keys()].filter((known) => known > after).sort()
            expect(await state.list(after, limit)).toEqual(ids.slice(0, limit).map((known) => model.get(known)))
          },
        ),
        { numRuns: 50 },
      )
    })

    it('can be closed twice', async () => {
      await state.close()
      await expect(state.close()).resolves.toBeUndefined()
    })
  })
}
