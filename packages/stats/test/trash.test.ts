import { describe, expect, it, onTestFinished } from 'vitest'
import { CollectionsOwner, type CollectionsOwnerOptions } from '../src/campaigns/collections-owner.ts'
import { getEtag } from '../src/core/campaign.ts'
import { DAY_MS } from '../src/core/quota-budget.ts'
import type { Snapshot } from '../src/core/video-numbers.ts'
import { createMapState } from '../src/state/map-state.ts'
import { ConflictError, type Collection } from '../src/state/stats-state.ts'
import { createNumbers } from './support/video-numbers.ts'

function openCollections(options: Partial<CollectionsOwnerOptions> = {}): CollectionsOwner {
  const collections = new CollectionsOwner({
    state: createMapState(),
    retention: 30 * DAY_MS,
    trashRetention: 30 * DAY_MS,
    ...options,
  })
  onTestFinished(() => collections.close())
  return collections
}

const listTrash = async ({ state }: CollectionsOwner) =>
  (await state.listRecords('trash', { limit: 9 })).map(({ value }) => value)
const toSnapshot = (asOf: number): Snapshot => ({ videos: [createNumbers('a')], missing: [], asOf })

describe('the trash', () => {
  it('gives a collection back with its creation, numbers and history, and a new version', async () => {
    const seen: [string, Collection | undefined, Snapshot | undefined][] = []
    const collections = openCollections({ onChange: (id, now, _requester, last) => void seen.push([id, now, last]) })
    const { collection } = await collections.change('put', 'c', ['a'], { name: 'Spring' })
    const now = Date.now()
    await collections.saveSnapshot(collection, toSnapshot(now))
    await collections.change('delete', 'c')
    await expect(collections.change('patch', 'c', {})).rejects.toMatchObject({ code: 'COLLECTION_NOT_FOUND' })
    const [trashed] = await listTrash(collections)
    expect(trashed).toMatchObject({ ...collection, revision: expect.any(Number), deleted: expect.any(String) })
    expect(trashed!.revision).toBeGreaterThan(collection.revision)
    const restored = (await collections.change('restore', 'c')).collection
    expect(restored).toEqual({ ...collection, revision: restored.revision })
    expect(restored.revision).toBeGreaterThan(trashed!.revision)
    expect(await listTrash(collections)).toEqual([])
    expect(await collections.state.get('c')).toEqual(restored)
    expect(await collections.state.getHistory('c', 0, now + 9, 9)).toHaveLength(1)
    expect(seen.map(([, now]) => now?.revision)).toEqual([collection.revision, undefined, restored.revision])
    expect(seen.at(-1)![2]).toMatchObject({ asOf: now })
    await expect(collections.change('restore', 'c')).rejects.toMatchObject({ code: 'NOT_IN_TRASH' })
  })

  it('accepts conditions, and refuses what is not in it', async () => {
    const collections = openCollections()
    for (const name of ['restore', 'purge'] as const)
      await expect(collections.change(name, 'c')).rejects.toMatchObject({ code: 'NOT_IN_TRASH', status: 404 })
    await collections.change('put', 'c', [])
    await expect(collections.change('purge', 'c')).rejects.toMatchObject({ code: 'NOT_IN_TRASH' })
    await collections.change('delete', 'c')
    const old = { match: ['"1"'] }
    for (const name of ['restore', 'purge'] as const)
      await expect(collections.change(name, 'c', old)).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
    const [trashed] = await listTrash(collections)
    await collections.change('purge', 'c', { match: [getEtag(trashed!)] })
    expect(await listTrash(collections)).toEqual([])
    expect(await collections.state.getSnapshot('c')).toBeUndefined()
  })

  it('drops a collection whose id is used again', async () => {
    const collections = openCollections()
    const first = (await collections.change('put', 'c', ['a'])).collection
    await collections.change('delete', 'c')
    const second = await collections.change('put', 'c', ['b'])
    expect([second.isNew, second.collection.created]).not.toEqual([true, first.created])
    expect(await listTrash(collections)).toEqual([])
    await expect(collections.change('restore', 'c')).rejects.toMatchObject({ code: 'NOT_IN_TRASH' })
  })

  it('is emptied after its retention, and holds nothing without one', async () => {
    const collections = openCollections()
    for (const id of ['a', 'b', 'c']) {
      const { collection } = await collections.change('put', id, ['a'])
      await collections.saveSnapshot(collection, toSnapshot(Date.now()))
      if (id !== 'c') await collections.change('delete', id)
    }
    await collections.prune(Date.now() + 29 * DAY_MS)
    expect((await listTrash(collections)).map(({ id }) => id)).toEqual(['a', 'b'])
    await collections.prune(Date.now() + 30 * DAY_MS + 1)
    expect(await listTrash(collections)).toEqual([])
    expect(await collections.state.getSnapshot('a')).toBeUndefined()
    expect(await collections.state.get('c')).toBeDefined()

    const final = openCollections({ trashRetention: 0 })
    await final.change('put', 'a', [])
    await final.change('delete', 'a')
    expect(await listTrash(final)).toEqual([])
  })

  it('drops the row of a collection that exists, but not the collection', async () => {
    const state = createMapState()
    const collections = openCollections({ state })
    const { collection } = await collections.change('put', 'c', ['a'])
    await collections.saveSnapshot(collection, toSnapshot(1))
    await state.putRecords([{ kind: 'trash', key: 'c', value: { ...collection, deleted: '2020-01-01T00:00:00.000Z' } }])
    await expect(collections.change('restore', 'c')).rejects.toMatchObject({ code: 'NOT_IN_TRASH' })
    await collections.prune()
    expect(await listTrash(collections)).toEqual([])
    expect(await state.get('c')).toEqual(collection)
    expect(await state.getSnapshot('c')).toBeDefined()
  })

  it('computes a change again if another node has changed the collection', async () => {
    const state = createMapState()
    const others: (() => void)[] = []
    const runOthers = () => {
      const other = others.shift()
      if (!other) return
      other()
      throw new ConflictError()
    }
    const shared = {
      ...state,
      catchUp: async () => {},
      trash: (...args: Parameters<typeof state.trash>) => (runOthers(), state.trash(...args)),
      restore: (...args: Parameters<typeof state.restore>) => (runOthers(), state.restore(...args)),
      delete: (...args: Parameters<typeof state.delete>) => (runOthers(), state.delete(...args)),
    }
    const collections = openCollections({ state: shared })
    await collections.change('put', 'c', ['a'])
    others.push(() => void state.put({ id: 'c', videos: ['b'], revision: 7, created: 7 }, undefined))
    await collections.change('delete', 'c')
    expect(await listTrash(collections)).toMatchObject([{ videos: ['b'], created: 7 }])
    others.push(() => void state.delete('c'))
    await expect(collections.change('restore', 'c')).rejects.toMatchObject({ code: 'NOT_IN_TRASH' })
  })
})
