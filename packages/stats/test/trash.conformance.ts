import { beforeEach, describe, expect, it } from 'vitest'
import type { Point } from '../src/core/history-points.ts'
import type { RecordChange } from '../src/core/record-kinds.ts'
import type { Snapshot } from '../src/core/video-numbers.ts'
import { ConflictError, type Collection, type StatsState, type TrashedCollection } from '../src/state/stats-state.ts'
import { createNumbers } from './support/video-numbers.ts'

const collection = (id: string, videos: string[] = [], revision = 1): Collection => ({ id, videos, revision })
const snapshot = (asOf: number): Snapshot => ({ videos: [createNumbers('-4lB5EKS5Uk')], missing: [], asOf })
const point = (at: number): Point => ({ at, impressions: at, engagements: 2, score: 3, videos: 1 })

/** Conformance suite of the trash of every state. @param getState returns a state that is empty before each test */
export function testTrash(getState: () => StatsState): void {
  let state: StatsState
  beforeEach(() => {
    state = getState()
  })
  const put = async (next: Collection) => state.put(next, await state.get(next.id))
  const remove = async (id: string) => state.delete(id, await state.get(id))

  it('stores records of a collection only while it exists', async () => {
    const post = { kind: 'post', key: 'a/p', value: { title: 'p' } } as const
    const store = async (...changes: RecordChange[]) => state.putRecords(changes)
    await expect(store(post)).rejects.toThrow(ConflictError)
    await put(collection('a'))
    await store(post)
    await state.trash({ ...collection('a', [], 2), deleted: 'now' }, (await state.get('a'))!)
    await expect(store({ kind: 'post', key: 'a/p' }, post)).rejects.toThrow(ConflictError)
    expect(await state.getRecords('post', ['a/p'])).toEqual([post.value])
    await store({ kind: 'post', key: 'a/p' })
    expect(await state.getRecords('post', ['a/p'])).toEqual([undefined])
  })

  describe('the trash', () => {
    const trashed = (id: string, revision: number): TrashedCollection => ({
      ...collection(id, ['-4lB5EKS5Uk'], revision),
      deleted: '2026-11-20T12:00:00.000Z',
    })
    const moveToTrash = async (id: string, revision: number) =>
      state.trash(trashed(id, revision), (await state.get(id))!)
    const getTrash = async () => (await state.listRecords('trash', { limit: 9 })).map(({ value }) => value)
    const putWithData = async (id: string) => {
      await put(collection(id, ['-4lB5EKS5Uk']))
      await state.putSnapshots([{ id, snapshot: snapshot(1), point: point(1) }])
      await state.putRecords([
        { kind: 'post', key: `${id}/p`, value: { title: id } },
        { kind: 'post-numbers', key: `${id}/p/1`, value: { views: 1 } },
      ])
    }
    /** The data of a collection apart from itself. */
    const getData = async (id: string) => [
      await state.getSnapshot(id),
      await state.getHistory(id, 0, 10, 9),
      ...(await state.getRecords('post', [`${id}/p`])),
      ...(await state.getRecords('post-numbers', [`${id}/p/1`])),
    ]
    const ALL_DATA = (id: string) => [snapshot(1), [point(1)], { title: id }, { views: 1 }]
    const NO_DATA = [undefined, [], undefined, undefined]

    it('keeps a collection with its data, which no read of collections returns', async () => {
      for (const id of ['a', 'b']) await putWithData(id)
      await moveToTrash('a', 2)
      expect(await state.get('a')).toBeUndefined()
      expect((await state.list('', 10)).map(({ id }) => id)).toEqual(['b'])
      expect(await getTrash()).toEqual([trashed('a', 2)])
      expect(await getData('a')).toEqual(ALL_DATA('a'))
    })

    it('gives a collection back with its data', async () => {
      await putWithData('a')
      await moveToTrash('a', 2)
      await state.restore(collection('a', ['-4lB5EKS5Uk'], 3), trashed('a', 2))
      expect(await state.get('a')).toEqual(collection('a', ['-4lB5EKS5Uk'], 3))
      expect((await state.list('', 10)).map(({ id }) => id)).toEqual(['a'])
      expect(await getTrash()).toEqual([])
      expect(await getData('a')).toEqual(ALL_DATA('a'))
      await moveToTrash('a', 4)
      expect(await getTrash()).toEqual([trashed('a', 4)])
    })

    it('is emptied by a deletion for good', async () => {
      for (const id of ['a', 'ab']) await putWithData(id)
      await moveToTrash('a', 2)
      await moveToTrash('ab', 2)
      await state.delete('a', undefined, trashed('a', 2))
      expect(await getTrash()).toEqual([trashed('ab', 2)])
      expect(await getData('a')).toEqual(NO_DATA)
      expect(await getData('ab')).toEqual(ALL_DATA('ab'))
    })

    it('drops a deleted collection if its id is used again', async () => {
      await putWithData('a')
      await moveToTrash('a', 2)
      await put(collection('a', [], 3))
      expect(await getTrash()).toEqual([])
      expect(await state.get('a')).toEqual(collection('a', [], 3))
      expect(await getData('a')).toEqual(NO_DATA)
    })

    it('is not involved in a deletion for good of an existing collection', async () => {
      await putWithData('a')
      await remove('a')
      expect(await getTrash()).toEqual([])
      expect(await getData('a')).toEqual(NO_DATA)
    })
  })
}
