import type { Stats, Video } from '@influencer-stats/stats/client'

const COUNTS = ['views', 'likes', 'comments', 'dislikes'] as const
export type Count = (typeof COUNTS)[number]

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
const videosIn = (number: number) => (number === 1 ? '1 video' : `${number} videos`)

/** Counts that YouTube does not state, a sentence each. The sums contain their last known values, if any. */
export const hiddenIn = ({ hidden = {} }: Pick<Stats, 'hidden'>): string[] =>
  COUNTS.flatMap((count) => {
    const number = hidden[count] ?? 0
    return number > 0 ? [`${capital(count)} of ${videosIn(number)} are hidden`] : []
  })

const UNREAD = 'not read yet'

/** How many videos are not in the sums because nothing is known of them. */
export const unreadIn = ({ unknown = [] }: Pick<Stats, 'unknown'>) => `${videosIn(unknown.length)} ${UNREAD}`

/** Why videos of a campaign are not, or not with current numbers, in its sums. */
export function gapsIn({ missing, unknown = [], gone = [] }: Pick<Stats, 'missing' | 'unknown' | 'gone'>): string[] {
  const parts = [
    [missing.length, 'not found'],
    [unknown.length, UNREAD],
    [gone.length, 'removed, with last numbers'],
  ] as const
  return parts.filter(([number]) => number > 0).map(([number, text]) => `${number} ${text}`)
}

/** A count of a video as it is shown: only what YouTube states now. */
export const statedCount = (video: Video, count: Count): number | undefined =>
  video.hidden?.includes(count) ? undefined : video[count]

/** @param format of a number */
export function hiddenBadge(video: Video, format: (value: number) => string): string | undefined {
  if (!video.hidden || video.hidden.length === 0) return undefined
  const last = video.hidden.flatMap((count) => {
    const value = video[count]
    return value === undefined ? [] : [`${format(value)} ${count}`]
  })
  const note = last.length > 0 ? ` (last known: ${last.join(', ')})` : ''
  return `${capital(video.hidden.join(', '))} hidden${note}`
}
