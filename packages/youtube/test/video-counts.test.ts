import * as fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TICK_MS, toTickStart } from '../src/world/tick.ts'
import { isVideoIdValid, getVideoCounts, getPublishTime } from '../src/world/video-counts.ts'

const BASE_TIME = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000

const character = fc.constantFrom(...'ABCXYZabcxyz0189-_')
const id = fc.string({ unit: character, minLength: 11, maxLength: 11 })
const time = fc.integer({ min: Date.UTC(2009, 0, 1), max: Date.UTC(2040, 0, 1) })

describe('counts', () => {
  it.each(['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo'])('of %s are constant', (fixed) => {
    const counts = { views: 261_734, likes: 14_237, dislikes: 928, favorites: 8_001, comments: 451 }
    expect(getVideoCounts(fixed, 0)).toEqual(counts)
    expect(getVideoCounts(fixed, BASE_TIME + 1000 * DAY_MS)).toEqual(counts)
  })

  it('depend on the id and the time only, and never fall', () => {
    fc.assert(
      fc.property(id, time, fc.integer({ min: 0, max: 1000 * DAY_MS }), (video, from, later) => {
        const before = getVideoCounts(video, from)
        const after = getVideoCounts(video, from + later)
        expect(getVideoCounts(video, from)).toEqual(before)
        for (const [name, count] of Object.entries(before)) {
          expect(count).toBeGreaterThanOrEqual(0)
          expect(after[name as 'views']).toBeGreaterThanOrEqual(count)
        }
      }),
    )
  })

  it('change only with the tick', () => {
    fc.assert(
      fc.property(id, time, fc.integer({ min: 0, max: TICK_MS - 1 }), (video, at, later) => {
        expect(getVideoCounts(video, toTickStart(at) + later)).toEqual(getVideoCounts(video, toTickStart(at)))
      }),
    )
  })

  it('grow slowly: 0.1 to 1,000 views an hour', () => {
    fc.assert(
      fc.property(
        id.filter((video) => isVideoIdValid(video)),
        (video) => {
          const grown = getVideoCounts(video, BASE_TIME + 100 * DAY_MS).views - getVideoCounts(video, BASE_TIME).views
          expect(grown).toBeGreaterThanOrEqual(239)
          expect(grown).toBeLessThanOrEqual(2_400_001)
        },
      ),
    )
  })

  it('differ from video to video', () => {
    const views = Array.from(
      { length: 500 },
      (_, i) => getVideoCounts(`video-${String(i).padStart(5, '0')}`, BASE_TIME).views,
    )
    expect(new Set(views).size).toBeGreaterThan(490)
  })

  it('are zero before the video is published', () => {
    expect(getVideoCounts('abcdefghijk', getPublishTime('abcdefghijk') - DAY_MS).views).toBe(0)
  })

  it('have no comments if the id ends in -', () => {
    expect(getVideoCounts('abcdefghij-', BASE_TIME)).not.toHaveProperty('comments')
    expect(getVideoCounts('abcdefghijk', BASE_TIME)).toHaveProperty('comments')
  })
})

describe('a video', () => {
  it('exists if its id is well-formed and does not end in _', () => {
    expect(isVideoIdValid('abcdefghijk')).toBe(true)
    expect(isVideoIdValid('-bcdefghi_-')).toBe(true)
    for (const missing of ['abcdefghij_', 'abcdefghij', 'abcdefghijkl', 'abcdefghij.', 'abcdefghij\n', '']) {
      expect(isVideoIdValid(missing)).toBe(false)
    }
  })
})

it('the video of the live demo differs with every refresh, at any time', () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  const ids = Array.from(
    readme.matchAll(/-XPUT localhost:8080\/collections\/\S+\/videos\/(\S{11})$/gm),
    ([, id]) => id!,
  )
  expect(ids).toHaveLength(1)
  const start = Date.UTC(2026, 0, 1)
  for (let at = start; at < start + 86_400_000; at += TICK_MS)
    expect(getVideoCounts(ids[0]!, at + TICK_MS).views).toBeGreaterThan(getVideoCounts(ids[0]!, at).views)
  expect(TICK_MS).toBeLessThanOrEqual(10_000)
})
