import type { Video } from '@influencer-stats/stats/client'
import { expect, it } from 'vitest'
import { readCreatorsQuery, writeCreatorsQuery } from '../src/page/core/listing/creators-query.ts'
import { parseVideoSort, selectVideos } from '../src/page/core/listing/select-videos.ts'

const videos: Video[] = [
  { id: 'aaaaaaaaaaa', url: '', title: 'Café 10', channel: 'Anna', views: 5, publishedAt: '2026-02-01T00:00:00.000Z' },
  { id: 'bbbbbbbbbbb', url: '', title: 'Café 9', channel: 'Bea', views: 50 },
  { id: 'ccccccccccc', url: '', publishedAt: '2026-01-01T00:00:00.000Z' },
]
const order = (...args: [string | null, string?]) =>
  selectVideos(videos, parseVideoSort(args[0]), args[1] ?? '').map(({ id }) => id[0])

it('orders the videos of a campaign; those without the value come last', () => {
  expect(order(null)).toEqual(['b', 'a', 'c'])
  expect(order('views')).toEqual(['a', 'b', 'c'])
  expect(order('title')).toEqual(['b', 'a', 'c'])
  expect(order('-title')).toEqual(['a', 'b', 'c'])
  expect(order('-publishedAt')).toEqual(['a', 'c', 'b'])
  expect(order('size')).toEqual(order('-views'))
})

it('finds the videos with all words in title, channel or id', () => {
  expect(order(null, 'cafe')).toEqual(['b', 'a'])
  expect(order(null, 'CAFÉ anna')).toEqual(['a'])
  expect(order(null, 'cccccc')).toEqual(['c'])
  expect(order(null, 'anna bea')).toEqual([])
})

it('the order of creators is in the address, unless it is the default', () => {
  expect(readCreatorsQuery('?sort=name&q=anna')).toEqual({ sort: 'name', q: 'anna' })
  expect(readCreatorsQuery('?sort=size')).toEqual({ sort: '-impressions', q: '' })
  expect(writeCreatorsQuery({ sort: '-impressions', q: '' })).toBe('')
  expect(writeCreatorsQuery({ sort: 'rate', q: 'a b' })).toBe('?sort=rate&q=a+b')
})
