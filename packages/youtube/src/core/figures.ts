import { randomOf } from './random.ts'

/** A video's counts. */
export interface Figures {
  readonly views: number
  readonly likes: number
  readonly dislikes: number
  readonly favorites: number
  /** Absent where comments are disabled. */
  readonly comments?: number
}

const VIDEO_ID = /^[A-Za-z0-9_-]{11}$/
const STANDING_STILL = new Set(['-4lB5EKS5Uk', '-jlLkTtgWUk', '1FEFpk-uIYo'])
const FIXED: Figures = { views: 261_734, likes: 14_237, dislikes: 928, favorites: 8_001, comments: 451 }

const HOUR = 3_600_000
const FIRST_UPLOAD = Date.UTC(2010, 0, 1)
const LAST_UPLOAD = Date.UTC(2024, 0, 1)

/** Figures change no more often than this (ms): until then a ready-made reply stays right. */
export const TICK = 10_000

/** The beginning of the tick that a time lies in. */
export const tickOf = (time: number) => time - (time % TICK)

/** Whether there is such a video. Ids that end in `_` are those of videos that were removed. */
export const exists = (id: string) => VIDEO_ID.test(id) && !id.endsWith('_')

/** Whether a video takes comments. Those whose id ends in `-` do not, and then have no `commentCount`. */
export const takesComments = (id: string) => !id.endsWith('-')

/** When a video was published (ms since 1970). */
export function publishedAt(id: string): number {
  const time = FIRST_UPLOAD + randomOf(`${id} published`)() * (LAST_UPLOAD - FIRST_UPLOAD)
  return time - (time % 1000)
}

/** A video's counts at a time: views come at a steady pace, 0.1 to 1,000 an hour, the rest in proportion to them. */
export function figuresOf(id: string, time: number): Figures {
  if (STANDING_STILL.has(id)) return FIXED
  const random = randomOf(id)
  const viewsPerHour = 10 ** (4 * random() - 1)
  const hours = Math.max(0, tickOf(time) - publishedAt(id)) / HOUR
  const views = Math.floor(viewsPerHour * hours)
  const share = (least: number, most: number) => Math.floor(views * (least + random() * (most - least)))
  return {
    views,
    likes: share(0.01, 0.06),
    dislikes: share(0.001, 0.006),
    favorites: share(0.001, 0.03),
    ...(takesComments(id) && { comments: share(0.001, 0.008) }),
  }
}
