import { describe, expect, it } from 'vitest'
import { readNumbers } from '../src/core/posts/read-numbers.ts'
import { findLastCounts, toPostId, toPostReply, type PostNumbers } from '../src/core/posts/post.ts'
import { sumPosts, toReportedPoints } from '../src/core/posts/reported.ts'

const at = (time: number, counts: object): PostNumbers => ({ at: time, revision: 1, ...counts })
const TIKTOK = 'https://www.tiktok.com/@anna/video/7234567890123456789'
const REEL = 'https://www.instagram.com/reel/C1a2b3c4d5e/'

describe('reported numbers', () => {
  it('an absent count has its last reported value, and is never 0', () => {
    const last = findLastCounts([at(1, { views: 10, likes: 3 }), at(2, { views: 8 })])
    expect(last).toEqual({ views: 8, likes: 3, at: 2 })
    expect(findLastCounts([])).toBeUndefined()
    const content = { platform: 'tiktok', url: TIKTOK, revision: 1, points: 2 } as const
    expect(toPostReply('p', { ...content, last: last! })).toEqual({
      id: 'p',
      platform: 'tiktok',
      url: TIKTOK,
      points: 2,
      numbers: { views: 8, likes: 3, asOf: '1970-01-01T00:00:00.002Z' },
    })
  })

  it('sums contain known counts only', () => {
    expect(sumPosts([])).toBeUndefined()
    expect(sumPosts([{}])).toEqual({ posts: 1 })
    expect(sumPosts([{ last: { at: 5_000, views: 0 } }, { last: { at: 1_000, likes: 2, shares: 1 } }, {}])).toEqual({
      impressions: 0,
      engagements: 3,
      posts: 3,
      asOf: '1970-01-01T00:00:01.000Z',
    })
    expect(sumPosts([{ last: { at: 0, saves: 7 } }])).toEqual({ saves: 7, posts: 1, asOf: '1970-01-01T00:00:00.000Z' })
  })

  it('a history begins with the sums at its beginning', () => {
    const numbers = new Map([
      ['a', [at(10, { views: 1 }), at(20, { views: 5, likes: 1 }), at(40, { views: 4 })]],
      ['b', [at(15, { views: 100 }), at(30, { saves: 2 })]],
    ])
    const all = toReportedPoints(numbers, { from: 0, to: 100 })
    expect(all).toEqual([
      { at: 10, impressions: 1, posts: 1 },
      { at: 15, impressions: 101, posts: 2 },
      { at: 20, impressions: 105, engagements: 1, posts: 2 },
      { at: 30, impressions: 105, engagements: 1, saves: 2, posts: 2 },
      { at: 40, impressions: 104, engagements: 1, saves: 2, posts: 2 },
    ])
    expect(toReportedPoints(numbers, { from: 25, to: 35 })).toEqual(all.slice(2, 4))
    expect(toReportedPoints(numbers, { from: 0, to: 35, step: 20 }).map((point) => point.at)).toEqual([15, 30])
    expect(toReportedPoints(numbers, { from: 50, to: 60 })).toEqual(all.slice(4))
    expect(toReportedPoints(numbers, { from: 0, to: 5 })).toEqual([])
  })
})

it('the default id of a post consists of its platform and its id there', () => {
  expect(toPostId({ platform: 'tiktok', id: '723' })).toBe('tiktok-723')
  expect(toPostId({ platform: 'linkedin', id: 'urn:li:activity:7' })).toBe('linkedin-urn-li-activity-7')
  expect(toPostId({ platform: 'facebook', id: 'x'.repeat(200) })).toHaveLength(128)
})

describe('a sheet of numbers', () => {
  it('is read row by row, with the reason of each refusal', () => {
    const text = [
      'url,post id,views,likes,at,note,colour',
      `${TIKTOK}?is_from_webapp=1,,"12,500",830,2026-11-20,from Anna,red`,
      ',reel,0,,2026-11-20T10:00:00Z,,',
      `${REEL},,many,,,,`,
      `${REEL},,,,,,`,
      'https://youtu.be/-4lB5EKS5Uk,,5,,,,',
      `${REEL},,5,,13/13/2026,,`,
      `${REEL},,7,,,,`,
    ].join('\n')
    const { rows, unknownHeadings } = readNumbers(text, 99)!
    expect(unknownHeadings).toEqual(['colour'])
    expect(rows).toEqual([
      {
        line: 2,
        url: TIKTOK,
        numbers: { at: Date.parse('2026-11-20'), views: 12_500, likes: 830, note: 'from Anna' },
      },
      { line: 3, post: 'reel', numbers: { at: Date.parse('2026-11-20T10:00:00Z'), views: 0 } },
      { line: 4, state: 'refused', reason: 'INVALID_VALUE', detail: 'many' },
      { line: 5, state: 'refused', reason: 'NO_NUMBERS' },
      { line: 6, state: 'refused', reason: 'NO_POST' },
      { line: 7, state: 'refused', reason: 'INVALID_VALUE', detail: '13/13/2026' },
      { line: 8, url: REEL, numbers: { at: 99, views: 7 } },
    ])
    expect(readNumbers('hello', 1)).toBeUndefined()
  })
})
