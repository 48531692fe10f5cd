import { COUNTS, sum, type Edits, type Totals, type VideoNumbers } from './numbers.ts'

const NOTHING: Totals = { impressions: 0, engagements: 0, score: 0, videos: 0 }

const plus = (a: Totals, b: Totals, sign = 1): Totals => ({
  impressions: a.impressions + sign * b.impressions,
  engagements: a.engagements + sign * b.engagements,
  score: a.score + sign * b.score,
  videos: a.videos + sign * b.videos,
})

const isNothing = (totals: Totals) => Object.values(totals).every((sum) => sum === 0)

const toEdits = (added: Totals, removed: Totals): Edits => ({
  ...(!isNothing(added) && { added }),
  ...(!isNothing(removed) && { removed }),
})

/** What of a count came while it could not be seen for longer than this is no growth of the moment in which it returns (ms). */
const UNSEEN = 7_200_000

/**
 * Adds what changes between two sets of videos other than by growth: videos that come and go, counts that are stated for
 * the first time, and the change of counts that were hidden, or of videos that were gone.
 * @param at time of the second set (ms since the epoch)
 */
export function addEdits(edits: Edits, last: readonly VideoNumbers[], now: readonly VideoNumbers[], at: number): Edits {
  const before = new Map(last.map((video) => [video.id, video]))
  let { added = NOTHING, removed = NOTHING } = edits
  for (const video of now) {
    const known = before.get(video.id)
    before.delete(video.id)
    if (known) {
      const { gained, lost } = changeUnseen(known, video, at)
      if (gained) added = plus(added, { ...sum([gained]), videos: 0 })
      if (lost) removed = plus(removed, { ...sum([lost]), videos: 0 })
    } else added = plus(added, sum([video]))
  }
  if (before.size > 0) removed = plus(removed, sum([...before.values()]))
  return toEdits(added, removed)
}

/** The change of counts that nobody saw grow. */
function changeUnseen(last: VideoNumbers, now: VideoNumbers, at: number) {
  const gained: Record<string, number> = {}
  const lost: Record<string, number> = {}
  const wasGone = last.gone && !now.gone && at - last.gone.asOf > UNSEEN
  const wasHidden = last.hiddenSince !== undefined && at - last.hiddenSince > UNSEEN
  for (const count of COUNTS) {
    const value = now[count]
    if (value === undefined) continue
    const isBack = wasGone || (wasHidden && last.hidden?.includes(count) && !now.hidden?.includes(count))
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

/** What has come and gone since an earlier time. */
export function editsSince(now: Edits, before: Edits): Edits {
  const since = (name: 'added' | 'removed') => plus(now[name] ?? NOTHING, before[name] ?? NOTHING, -1)
  return toEdits(since('added'), since('removed'))
}

export const sameEdits = (a: Edits, b: Edits): boolean => {
  const { added, removed } = editsSince(a, b)
  return !added && !removed
}

/** Sums as they would be without edits: only growth changes them. */
export function toGrown({ added = NOTHING, removed = NOTHING, ...totals }: Totals & Edits): Totals {
  return plus(plus(totals, added, -1), removed)
}
