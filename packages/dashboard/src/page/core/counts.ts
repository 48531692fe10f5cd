import type { Stats, Video } from '@influencer-stats/stats/client'
import { text } from '../texts/texts.ts'
import type { EditSums, EditTotals, Measure } from './growth.ts'

const COUNT_NAMES = ['views', 'likes', 'comments', 'dislikes'] as const
export type CountName = (typeof COUNT_NAMES)[number]

const capitalize = (words: string) => words.slice(0, 1).toUpperCase() + words.slice(1)

/** Counts that YouTube does not state, a sentence each. The sums contain their last known values, if any. */
export const describeHidden = ({ hidden = {} }: Pick<Stats, 'hidden'>): string[] =>
  COUNT_NAMES.flatMap((count) => {
    const number = hidden[count] ?? 0
    return number > 0 ? [text(`hidden.${count}`, { count: number })] : []
  })

/** The number of videos that are not in the sums because they have no numbers yet. */
export const describeUnread = ({ unknown = [] }: Pick<Stats, 'unknown'>) =>
  text('videos.unread', { count: unknown.length })

/** The reasons why the sums omit videos of a campaign, or contain old numbers of them. */
export function describeGaps({
  missing,
  unknown = [],
  gone: removed = [],
}: Pick<Stats, 'missing' | 'unknown' | 'gone'>): string[] {
  const parts = [
    [missing.length, 'gaps.missing'],
    [unknown.length, 'gaps.unread'],
    [removed.length, 'gaps.removed'],
  ] as const
  return parts.filter(([count]) => count > 0).map(([count, key]) => text(key, { count }))
}

/** A count of a video; of a removed video the last known one. Undefined if it is hidden or unknown. */
export const getStatedCount = (video: Video, count: CountName): number | undefined =>
  video.hidden?.includes(count) ? undefined : video[count]

/** The text that names the hidden counts of a video. Undefined if there are none. @param format formats a count */
export function formatHiddenBadge(video: Video, format: (value: number) => string): string | undefined {
  if (!video.hidden || video.hidden.length === 0) return undefined
  const last = video.hidden.flatMap((count) => {
    const value = video[count]
    return value === undefined ? [] : [text('count.value', { value: format(value), name: text(`count.${count}`) })]
  })
  const names = capitalize(video.hidden.map((count) => text(`count.${count}`)).join(', '))
  return last.length > 0 ? text('count.hiddenLast', { names, last: last.join(', ') }) : text('count.hidden', { names })
}

/** The effect of edits on a sum, in words. Videos without a count are only counted. @param format formats a count */
export function describeEdits(
  { added, removed }: EditTotals,
  measure: Measure,
  format: (value: number) => string,
): string[] {
  const describe = ({ videos: count, [measure]: sum }: EditSums, kind: 'Added' | 'Removed'): string[] => {
    const value = format(sum)
    if (count === 0) return sum === 0 ? [] : [text(`edits.counts${kind}`, { value })]
    return [sum === 0 ? text(`edits.only${kind}`, { count }) : text(`edits.videos${kind}`, { count, value })]
  }
  return [...(added ? describe(added, 'Added') : []), ...(removed ? describe(removed, 'Removed') : [])]
}
