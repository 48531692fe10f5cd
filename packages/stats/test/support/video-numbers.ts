import fc from 'fast-check'
import type { VideoNumbers } from '../../src/core/video-numbers.ts'

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Well-formed video ids. */
export const videoId = fc.array(fc.constantFrom(...BASE64URL), { minLength: 11, maxLength: 11 }).map((c) => c.join(''))

const anyCount = fc.integer({ min: 0, max: 2 ** 40 })

export const videoNumbers: fc.Arbitrary<VideoNumbers> = fc.record(
  { id: videoId, views: anyCount, likes: anyCount, comments: anyCount, dislikes: anyCount },
  { requiredKeys: ['id', 'views', 'likes', 'comments'] },
)

/** Returns a video's numbers, the same for the same id. */
export const createNumbers = (id: string, views = 1_000): VideoNumbers => ({
  id,
  views,
  likes: 10,
  comments: 5,
  dislikes: 1,
})
