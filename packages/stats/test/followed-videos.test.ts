import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectionChanges } from '../src/campaigns/collection-changes.ts'
import type { Collection } from '../src/core/campaign.ts'
import { addFollowed, MAX_REFUSED, updateFollowed } from '../src/campaigns/followed-videos.ts'
import { MAX_VIDEOS } from '../src/core/ids.ts'

const source = (id: string) => ({ type: 'channel' as const, id })
const campaign = (fields: Partial<Collection> = {}): Collection => ({
  id: 'c',
  revision: 1,
  videos: ['a', 'b'],
  sources: [source('s'), source('t')],
  ...fields,
})
const createIds = (n: number) => Array.from({ length: n }, (_, i) => `v${i}`)

describe('followed videos', () => {
  it('are added with their source, except those that are members or refused', () => {
    const before = campaign({ refused: ['r'], followed: { b: 't' } })
    expect(addFollowed(before, { a: 's', r: 's', n: 's', o: 'unknown', p: 't' })).toEqual({
      ...before,
      videos: ['a', 'b', 'n', 'p'],
      followed: { b: 't', n: 's', p: 't' },
    })
    expect(addFollowed(before, { a: 's', r: 's' })).toBe(before)
    expect(addFollowed(campaign({ videos: createIds(MAX_VIDEOS - 1) }), { x: 's', y: 's' }).followed).toEqual({
      x: 's',
    })
  })

  it('that a person removes are refused; those that a person adds are refused no more', () => {
    let now = collectionChanges.follow(campaign(), 'c', { n: 's', o: 's' }) as Collection
    now = { ...now, ...collectionChanges.removeVideo(now, 'c', 'n') }
    expect(now).toMatchObject({ videos: ['a', 'b', 'o'], followed: { o: 's' }, refused: ['n'] })
    expect(collectionChanges.follow(now, 'c', { n: 's' })).toBe(now)
    expect(collectionChanges.removeVideo(now, 'c', 'a')).toMatchObject({ refused: ['n'] })
    const added = collectionChanges.addVideo(now, 'c', 'n')
    expect(added).toMatchObject({ videos: ['a', 'b', 'o', 'n'], followed: { o: 's' } })
    expect('refused' in added).toBe(false)
  })

  it('are ordinary videos once their source is removed; refused ones remain refused', () => {
    const before = campaign({ videos: ['a', 'b'], followed: { a: 's', b: 't' }, refused: ['r'] })
    expect(collectionChanges.patch(before, 'c', { sources: [source('t')] })).toMatchObject({
      followed: { b: 't' },
      refused: ['r'],
    })
    const replaced = collectionChanges.put(before, 'c', ['a'])
    expect(replaced).toEqual({ videos: ['a'], refused: ['r', 'b'] })
    expect(collectionChanges.put(undefined, 'c', ['a'], { sources: [source('s')] })).not.toHaveProperty('refused')
  })

  it('are never refused and members at once, and at most so many are refused', () => {
    const id = fc.constantFrom(...'abcdef')
    fc.assert(
      fc.property(
        fc.dictionary(id, fc.constantFrom('s', 't', 'u')),
        fc.uniqueArray(id),
        fc.uniqueArray(id),
        (followed, refused, videos) => {
          const next = updateFollowed({ followed, refused }, campaign({ videos }))
          for (const [video, from] of Object.entries(next.followed ?? {}))
            expect(videos.includes(video) && from !== 'u' && followed[video] === from).toBe(true)
          for (const video of next.refused ?? []) expect(videos).not.toContain(video)
          for (const video of [...refused, ...Object.keys(followed)])
            if (!videos.includes(video)) expect(next.refused).toContain(video)
          expect(new Set(next.refused).size).toBe(next.refused?.length ?? 0)
        },
      ),
    )
    const followed = Object.fromEntries(createIds(MAX_REFUSED + 2).map((video) => [video, 's']))
    expect(updateFollowed({ followed }, campaign()).refused).toEqual(createIds(MAX_REFUSED + 2).slice(2))
  })
})
