import { COUNT_NAMES, sum, type Edits, type Totals, type VideoNumbers } from './video-numbers.ts'

const ZERO_TOTALS: Totals = { impressions: 0, engagements: 0, score: 0, videos: 0 }

const addTotals = (a: Totals, b: Totals, sign = 1): Totals => ({
  impressions: a.impressions + sign * b.impressions,
  engagements: a.engagements + sign * b.engagements,
  score: a.score + sign * b.score,
  videos: a.videos + sign * b.videos,
})

const isZero = (totals: Totals) => Object.values(totals).every((sum) => sum === 0)

const toEdits = (added: Totals, removed: Totals): Edits => ({
  ...(!isZero(added) && { added }),
  ...(!isZero(removed) && { removed }),
})

/**
 * If YouTube did not state a count for longer than this (ms), the change of the count in that time is an edit. Otherwise
 * all of the change would appear as growth at the moment at which the count returns.
 */
const MAX_UNSEEN_MS = 7_200_000

/**
 * Returns `edits` plus the changes between two sets of videos that are not growth: videos that the collection gained or
 * lost, and counts that YouTube states for the first time. For counts that were hidden, and for videos that YouTube
 * removed and returns again, see `MAX_UNSEEN_MS`.
 * @param at time of the second set (ms since the epoch)
 */
export function addEdits(edits: Edits, last: readonly VideoNumbers[], now: readonly VideoNumbers[], at: number): Edits {
  const before = new Map(last.map((video) => [video.id, video]))
  let { added = ZERO_TOTALS, removed = ZERO_TOTALS } = edits
  for (const video of now) {
    const known = before.get(video.id)
    before.delete(video.id)
    if (known) {
      const { gained, lost } = diffUnseen(known, video, at)
      if (gained) added = addTotals(added, { ...sum([gained]), videos: 0 })
      if (lost) removed = addTotals(removed, { ...sum([lost]), videos: 0 })
    } else added = addTotals(added, sum([video]))
  }
  if (before.size > 0) removed = addTotals(removed, sum([...before.values()]))
  return toEdits(added, removed)
}

/** Returns the change of counts during a time in which YouTube did not state them. */
function diffUnseen(last: VideoNumbers, now: VideoNumbers, at: number) {
  const gained: Record<string, number> = {}
  const lost: Record<string, number> = {}
  const wasRemoved = last.gone && !now.gone && at - last.gone.asOf > MAX_UNSEEN_MS
  const wasHidden = last.hiddenSince !== undefined && at - last.hiddenSince > MAX_UNSEEN_MS
  for (const count of COUNT_NAMES) {
    const value = now[count]
    if (value === undefined) continue
    const isBack = wasRemoved || (wasHidden && last.hidden?.includes(count) && !now.hidden?.includes(count))
    const before = last[count]
    if (before !== undefined && !isBack) continue
    const change = value - (before ?? 0)
    if (change > 0) gained[count] = change
    if (change < 0) lost[count] = -change
  }
  const toNumbers = (counts: Record<string, number>) =>
    Object.keys(counts).length > 0 ? { id: now.id, ...counts } : undefined
  return { gained: toNumbers(gained), lost: toNumbers(lost) }
}

/** Returns the edits since an earlier time. */
export function diffEdits(now: Edits, before: Edits): Edits {
  const since = (name: 'added' | 'removed') => addTotals(now[name] ?? ZERO_TOTALS, before[name] ?? ZERO_TOTALS, -1)
  return toEdits(since('added'), since('removed'))
}

export const hasSameEdits = (a: Edits, b: Edits): boolean => {
  const { added, removed } = diffEdits(a, b)
  return !added && !removed
}

/** Returns the sums without the effect of edits: the difference of two results is growth. */
export function removeEdits({ added = ZERO_TOTALS, removed = ZERO_TOTALS, ...totals }: Totals & Edits): Totals {
  return addTotals(addTotals(totals, added, -1), removed)
}
