import { createSeededRandom } from './seeded-random.ts'
import { toTickStart } from './tick.ts'

/** The counts of a video. */
export interface VideoCounts {
  readonly views: number
  readonly likes: number
  readonly dislikes: number
  readonly favorites: number
  /** Absent if comments are disabled. */
  readonly comments?: number
}

const VIDEO_ID = /^[A-Za-z0-9_-]{11}$/
/** Videos with constant counts, `FIXED_COUNTS`: the examples in the READMEs and tests rely on their numbers. */
const FIXED_VIDEO_IDS = new Set(['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo'])
const FIXED_COUNTS: VideoCounts = { views: 261_734, likes: 14_237, dislikes: 928, favorites: 8_001, comments: 451 }

const HOUR_MS = 3_600_000
const FIRST_UPLOAD_TIME = Date.UTC(2010, 0, 1)
const LAST_UPLOAD_TIME = Date.UTC(2024, 0, 1)

/** True if a video can have this id. No video has an id that ends in `_`, so tests can request a missing video. */
export const isVideoIdValid = (id: string) => VIDEO_ID.test(id) && !id.endsWith('_')

/** True if comments are enabled for a video. If its id ends in `-`, they are disabled and `commentCount` is absent. */
const hasComments = (id: string) => !id.endsWith('-')

/** Returns the publish time of a video that is no upload of a known channel (ms since 1970). */
export function getPublishTime(id: string): number {
  const time = FIRST_UPLOAD_TIME + createSeededRandom(`${id} published`)() * (LAST_UPLOAD_TIME - FIRST_UPLOAD_TIME)
  return time - (time % 1000)
}

/**
 * Returns the counts of a video at a time (ms since 1970). Views grow at a constant rate from the date of publication,
 * 0.1 to 1,000 per hour, and the other counts grow in proportion to them. The videos in `FIXED_VIDEO_IDS` have constant
 * counts.
 * @param publishTime ms since 1970
 */
export function getVideoCounts(id: string, time: number, publishTime = getPublishTime(id)): VideoCounts {
  if (FIXED_VIDEO_IDS.has(id)) return FIXED_COUNTS
  const random = createSeededRandom(id)
  const viewsPerHour = 10 ** (4 * random() - 1)
  const hours = Math.max(0, toTickStart(time) - publishTime) / HOUR_MS
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
