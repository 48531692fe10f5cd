import type { Stats, Video } from '@influencer-stats/stats/client'

const COUNT_NAMES = ['views', 'likes', 'comments', 'dislikes'] as const
export type CountName = (typeof COUNT_NAMES)[number]

const capitalize = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
const formatVideos = (number: number) => (number === 1 ? '1 video' : `${number} videos`)

/** Counts that YouTube does not state, a sentence each. The sums contain their last known values, if any. */
export const describeHidden = ({ hidden = {} }: Pick<Stats, 'hidden'>): string[] =>
  COUNT_NAMES.flatMap((count) => {
    const number = hidden[count] ?? 0
    return number > 0 ? [`${capitalize(count)} of ${formatVideos(number)} are hidden`] : []
  })

const UNREAD_TEXT = 'not read yet'

/** The number of videos that are not in the sums because they have no numbers yet. */
export const describeUnread = ({ unknown = [] }: Pick<Stats, 'unknown'>) =>
  `${formatVideos(unknown.length)} ${UNREAD_TEXT}`

/** The reasons why the sums omit videos of a campaign, or contain old numbers of them. */
export function describeGaps({
  missing,
  unknown = [],
  gone: removed = [],
}: Pick<Stats, 'missing' | 'unknown' | 'gone'>): string[] {
  const parts = [
    [missing.length, 'not found'],
    [unknown.length, UNREAD_TEXT],
    [removed.length, 'removed, with last numbers'],
  ] as const
  return parts.filter(([number]) => number > 0).map(([number, text]) => `${number} ${text}`)
}

/** A count of a video; of a removed video the last known one. Undefined if it is hidden or unknown. */
export const getStatedCount = (video: Video, count: CountName): number | undefined =>
  video.hidden?.includes(count) ? undefined : video[count]

/** The text that names the hidden counts of a video. Undefined if there are none. @param format formats a count */
export function formatHiddenBadge(video: Video, format: (value: number) => string): string | undefined {
  if (!video.hidden || video.hidden.length === 0) return undefined
  const last = video.hidden.flatMap((count) => {
    const value = video[count]
    return value === undefined ? [] : [`${format(value)} ${count}`]
  })
  const note = last.length > 0 ? ` (last known: ${last.join(', ')})` : ''
  return `${capitalize(video.hidden.join(', '))} hidden${note}`
}
