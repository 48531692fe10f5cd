import type { CollectionRow } from '@influencer-stats/stats/client'
import { describe, expect, it } from 'vitest'
import { mergeNewerSums, mergeValue } from '../src/page/core/live-row.ts'

describe('a live value', () => {
  const stats = {
    impressions: 100,
    engagements: 10,
    score: 5,
    videos: 2,
    missing: [],
    asOf: '2026-03-01T00:00:00.000Z',
    stale: false,
  }
  const window = { impressions: 7, engagements: 1, score: 1, since: '2026-02-28T00:00:00.000Z' }
  const change = { '24h': window, '7d': window, '30d': window } as never
  const row = { id: 'a', videos: ['x', 'y'], version: '1', created: stats.asOf, stats, change } as CollectionRow
  const later = { ...stats, id: 'a', created: stats.asOf, impressions: 130, asOf: '2026-03-01T00:01:00.000Z' }

  it('adds its difference to growth', () => {
    const { row: shown, isOutdated } = mergeValue(row, later)
    expect([isOutdated, shown.stats?.impressions, shown.change?.['24h'].impressions]).toEqual([false, 130, 37])
    expect(mergeValue(row, { ...later, asOf: '2026-02-01T00:00:00.000Z' })).toEqual({ row, isOutdated: false })
    expect(mergeValue(row, { ...later, id: 'b' })).toEqual({ row, isOutdated: false })
  })

  it.each([
    ['is ignored if it is of an earlier collection with the id', '2026-02-01T00:00:00.000Z', false],
    ['is ignored if it is of a collection of unknown age', undefined, false],
    ['makes the row old if the collection was created again', '2026-03-01T00:00:30.000Z', true],
  ])('%s', (_, created, isOutdated) => {
    const { created: _created, ...value } = later
    expect(mergeValue(row, { ...value, ...(created && { created }) })).toEqual({ row, isOutdated })
  })

  it.each([
    ['a video was removed', { videos: 1 }],
    ['a video is unknown', { unknown: ['y'] }],
    ['a video was not found', { missing: ['y'] }],
    ['likes are hidden', { hidden: { likes: 1 } }],
    ['only a part of the numbers is of after an outage', { stale: true }],
    ['an outage is between', { asOf: '2026-03-03T00:00:00.000Z' }],
  ])('is no growth where %s: the row has to be read again', (_what, edit) => {
    expect(mergeValue(row, { ...later, ...edit })).toEqual({ row, isOutdated: true })
  })

  it.each([
    ['older', '1', false],
    ['newer', '3', true],
  ])('is no growth where the version of the collection is %s', (_, version, isOutdated) => {
    const edited = { ...row, version: '2' }
    expect(mergeValue(edited, { ...later, version })).toEqual({ row: edited, isOutdated })
    expect(mergeValue(edited, { ...later, version: '2' }).row.stats?.impressions).toBe(130)
  })

  it('is not growth if it has another source or no numbers', () => {
    const real = { ...row, stats: { ...stats, source: 'https://api.example' } }
    expect(mergeValue(real, { ...later, source: 'stand-in' })).toEqual({ row: real, isOutdated: true })
    const none = { id: 'a', created: stats.asOf, version: '1', stale: true, source: 'https://api.example' } as const
    expect(mergeValue(real, none)).toEqual({ row: real, isOutdated: true })
    const { stats: _stats, change: _change, ...empty } = row
    expect(mergeValue(empty, none)).toEqual({ row: empty, isOutdated: false })
  })

  it('is not growth if some sums of the row are from before an outage', () => {
    const old = { ...row, stats: { ...stats, stale: true } }
    expect(mergeValue(old, later)).toEqual({ row: old, isOutdated: true })
    expect(mergeValue(old, { ...later, impressions: stats.impressions }).row.stats?.stale).toBe(false)
  })
})

describe('sums that a page shows', () => {
  const time = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`
  const sumsOf = (impressions: number, minute: number) => ({
    impressions,
    engagements: 10,
    score: 5,
    videos: 1,
    missing: [],
    asOf: time(minute),
    stale: false,
    source: 'a',
  })
  const rowOf = (impressions: number, minute: number, more: object = {}) => {
    const stats = { ...sumsOf(impressions, minute), ...more }
    return { id: 'a', name: 'Old', videos: ['x'], version: '1', created: time(0), stats } as CollectionRow
  }

  it('remain if a reply has older ones of the same videos, with the rest of the reply', () => {
    const read = { ...rowOf(100, 0), name: 'New' }
    const merged = mergeNewerSums(read, rowOf(130, 1))
    expect([merged.name, merged.stats]).toEqual(['New', sumsOf(130, 1)])
    expect(mergeNewerSums(rowOf(100, 0, { stale: true }), rowOf(130, 1)).stats).toEqual({
      ...sumsOf(130, 1),
      stale: true,
    })
  })

  it('remain if a reply has none because of added videos, which are named', () => {
    const { stats: _none, ...read } = { ...rowOf(0, 0), videos: ['x', 'y', 'z'] }
    const merged = mergeNewerSums(read, rowOf(130, 1, { unknown: [] }))
    expect(merged.stats).toEqual({ ...sumsOf(130, 1), unknown: ['y', 'z'] })
    expect(mergeNewerSums(read, merged).stats).toEqual(merged.stats)
    for (const videos of [['x'], ['y'], []])
      expect(mergeNewerSums({ ...read, videos }, rowOf(130, 1)).stats).toBeUndefined()
  })

  it.each<[string, CollectionRow, CollectionRow | undefined]>([
    ['newer', rowOf(130, 2), rowOf(100, 1)],
    ['as old', rowOf(130, 1), rowOf(100, 1)],
    ['the first', rowOf(130, 1), undefined],
    ['of other videos', { ...rowOf(90, 0), videos: ['x', 'y'] }, rowOf(130, 1)],
    ['of a campaign that was created again', { ...rowOf(90, 0), created: time(3) }, rowOf(130, 1)],
    ['of another campaign', { ...rowOf(90, 0), id: 'b' }, rowOf(130, 1)],
    ['of another source', rowOf(90, 0, { source: 'b' }), rowOf(130, 1)],
  ])('give way to those of a reply that are %s', (_what, read, shown) => {
    expect(mergeNewerSums(read, shown)).toBe(read)
  })
})
