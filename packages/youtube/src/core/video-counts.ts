import { createSeededRandom } from './seeded-random.ts'

/** A video's counts. */
export interface VideoCounts {
  readonly views: number
  readonly likes: number
  readonly dislikes: number
  readonly favorites: number
  /** Absent where comments are disabled. */
  readonly comments?: number
}

const VIDEO_ID = /^[A-Za-z0-9_-]{11}$/
const FIXED_VIDEO_IDS = new Set(['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo'])
const FIXED_COUNTS: VideoCounts = { views: 261_734, likes: 14_237, dislikes: 928, favorites: 8_001, comments: 451 }

const HOUR_MS = 3_600_000
const FIRST_UPLOAD_TIME = Date.UTC(2010, 0, 1)
const LAST_UPLOAD_TIME = Date.UTC(2024, 0, 1)

/** Figures change no more often than this (ms): until then a ready-made reply stays right. */
export const TICK_MS = 10_000

/** The beginning of the tick that a time lies in. */
export const toTickStart = (time: number) => time - (time % TICK_MS)

/** Whether there is such a video. Ids that end in `_` are those of videos that were removed. */
export const isVideoPresent = (id: string) => VIDEO_ID.test(id) && !id.endsWith('_')

/** Whether a video takes comments. Those whose id ends in `-` do not, and then have no `commentCount`. */
export const hasComments = (id: string) => !id.endsWith('-')

/** When a video was published (ms since 1970). */
export function getPublishTime(id: string): number {
  const time = FIRST_UPLOAD_TIME + createSeededRandom(`${id} published`)() * (LAST_UPLOAD_TIME - FIRST_UPLOAD_TIME)
  return time - (time % 1000)
}

/** A video's counts at a time: views come at a steady pace, 0.1 to 1,000 an hour, the rest in proportion to them. */
export function getVideoCounts(id: string, time: number): VideoCounts {
  if (FIXED_VIDEO_IDS.has(id)) return FIXED_COUNTS
  const random = createSeededRandom(id)
  const viewsPerHour = 10 ** (4 * random() - 1)
  const hours = Math.max(0, toTickStart(time) - getPublishTime(id)) / HOUR_MS
  const views = Math.floor(viewsPerHour * hours)
  const drawShare = (min: number, max: number) => Math.floor(views * (min + random() * (max - min)))
  return {
    views,
    likes: drawShare(0.01, 0.06),
    dislikes: drawShare(0.001, 0.006),
    favorites: drawShare(0.001, 0.03),
    ...(hasComments(id) && { comments: drawShare(0.001, 0.008) }),
  }
}
