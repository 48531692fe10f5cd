import { expect, it } from 'vitest'
import { parseCount } from '../src/page/core/posts/count-input.ts'
import { toReportedLine } from '../src/page/core/posts/reported-line.ts'
import { getPostName } from '../src/page/screens/posts/post-name.ts'

it('counts are whole numbers with any grouping', () => {
  for (const typed of ['12500', '12,500', '12.500', '12 500', '12\u202f500', '12’500', ' 12500 '])
    expect([typed, parseCount(typed)]).toEqual([typed, 12_500])
  expect(parseCount('0')).toBe(0)
  expect(parseCount('  ')).toBe(null)
  for (const typed of ['12,5', '1.2K', '-1', '1e3', 'x', '12,50,000', '1'.repeat(16)])
    expect([typed, parseCount(typed)]).toEqual([typed, undefined])
})

it('reported sums are steps up to now, from the first known value', () => {
  const at = (seconds: number) => new Date(seconds * 1_000).toISOString()
  const points = [
    { at: at(1), engagements: 5, posts: 1 },
    { at: at(2), impressions: 10, engagements: 5, posts: 1 },
    { at: at(4), impressions: 7, engagements: 6, posts: 2 },
  ]
  expect(toReportedLine(points, 'impressions', 9_000)).toEqual([
    { at: 2_000, value: 10 },
    { at: 3_999, value: 10 },
    { at: 4_000, value: 7 },
    { at: 9_000, value: 7 },
  ])
  expect(toReportedLine([], 'impressions', 9_000)).toEqual([])
})

it('a post without a title has the path of its link as its name, with the ends of long ids', () => {
  const names = [
    ['https://www.tiktok.com/@anna/video/7234567890123456789', '@anna/video/…456789'],
    ['https://www.instagram.com/reel/C1a2b3c4d5e/', 'reel/C1a2b3c4d5e'],
    ['https://x.com/anna/status/1234567890123456789', 'anna/status/…456789'],
  ] as const
  for (const [url, name] of names) expect(getPostName({ url })).toBe(name)
  expect(getPostName({ url: names[0][0], title: 'Summer' })).toBe('Summer')
})
