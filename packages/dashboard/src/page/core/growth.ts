export type Measure = 'impressions' | 'engagements'

/** The amounts that edits added to sums or removed from them. They are not growth. */
export interface EditSums {
  /** 0 if only counts of known videos appeared. */
  readonly videos: number
  readonly impressions: number
  readonly engagements: number
}

export interface EditTotals<Sums = EditSums> {
  readonly added?: Sums | undefined
  readonly removed?: Sums | undefined
}

/** The part of a sum that edits made. */
export const sumEdits = ({ added, removed }: EditTotals<Record<Measure, number>>, measure: Measure): number =>
  (added?.[measure] ?? 0) - (removed?.[measure] ?? 0)

/** Growth in a window, as stats states it. Of the optional fields and `since`, version 0.1 of stats states only `since`. */
export interface WindowGrowth extends EditTotals {
  readonly impressions: number
  readonly engagements: number
  readonly since: string
  readonly until?: string
  readonly isWhole?: boolean
  readonly young?: boolean
}

/** The time that a growth covers: the window, another time from `since` on (ms since 1970), or a young campaign's age. */
export interface Coverage {
  readonly kind: 'whole' | 'other' | 'young'
  readonly since: number
}

/** Version 0.1 compares with the nearest point, which may differ by this share of the window. */
const TOLERANCE_RATIO = 0.02

/** The time that a growth covers. @param length length of the window (ms) @param now ms since 1970 */
export function getCoverage(growth: WindowGrowth, length: number, now: number): Coverage {
  const since = Date.parse(growth.since)
  if (growth.isWhole) return { kind: 'whole', since }
  if (growth.young) return { kind: 'young', since }
  const isNear = growth.until === undefined && Math.abs(since - (now - length)) <= TOLERANCE_RATIO * length
  return { kind: isNear ? 'whole' : 'other', since }
}

/** Growth of several campaigns in one window. */
export interface GrowthSum {
  impressions: number
  engagements: number
  /** Campaigns without a known growth of this window: their growth is not in the sums. */
  omitted: number
  /** Campaigns in the sums. */
  counted: number
  /** Campaigns in the sums that are younger than the window. */
  young: number
  /** Start of the oldest young campaign's growth (ms since 1970). */
  youngSince: number
}

export function sumGrowth(growths: readonly (WindowGrowth | undefined)[], length: number, now: number): GrowthSum {
  const sum = { impressions: 0, engagements: 0, omitted: 0, counted: 0, young: 0, youngSince: Infinity }
  for (const growth of growths) {
    const coverage = growth && getCoverage(growth, length, now)
    if (!growth || !coverage || coverage.kind === 'other') {
      sum.omitted++
      continue
    }
    sum.impressions += growth.impressions
    sum.engagements += growth.engagements
    sum.counted++
    if (coverage.kind === 'young') {
      sum.young++
      sum.youngSince = Math.min(sum.youngSince, coverage.since)
    }
  }
  return sum
}
