export type Measure = 'impressions' | 'engagements'

/** Returns the measure that an address selects. */
export const readMeasure = (query: URLSearchParams): Measure =>
  query.get('measure') === 'engagements' ? 'engagements' : 'impressions'

/**
 * Changes of the sums that are not growth: the counts of videos that edits added or removed, and counts that YouTube states
 * for the first time, or again after it hid them.
 */
export interface EditSums {
  /** Number of added or removed videos. */
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

/** Growth in a window, as stats states it. Version 0.1 of stats omits the optional fields. Times are ISO 8601. */
export interface WindowGrowth extends EditTotals {
  readonly impressions: number
  readonly engagements: number
  /** Start of the time that the growth covers. */
  readonly since: string
  /** End of the window: the time at which the sums were last confirmed. */
  readonly until?: string
  /** True if the growth covers the whole window. */
  readonly isWhole?: boolean
  /** True if the campaign began within the window. */
  readonly young?: boolean
}

/**
 * The time that a growth covers, from `since` on (ms since 1970): `whole` is the window, `young` the lifetime of a campaign
 * that is younger than the window, `other` any other time.
 */
export interface Coverage {
  readonly kind: 'whole' | 'other' | 'young'
  readonly since: number
}

/**
 * Version 0.1 of stats does not state `isWhole`. Its growth counts as whole if `since` differs from the start of the window
 * by at most this share of the window.
 */
const TOLERANCE_RATIO = 0.02

/** The time that a growth covers. @param length length of the window (ms) @param now ms since 1970 */
export function getCoverage(growth: WindowGrowth, length: number, now: number): Coverage {
  const since = Date.parse(growth.since)
  if (growth.isWhole) return { kind: 'whole', since }
  if (growth.young) return { kind: 'young', since }
  const isNear = growth.until === undefined && Math.abs(since - (now - length)) <= TOLERANCE_RATIO * length
  return { kind: isNear ? 'whole' : 'other', since }
}

export type GrowthSum = ReturnType<typeof sumGrowth>

/** The growth of several campaigns in one window. */
export function sumGrowth(growths: readonly (WindowGrowth | undefined)[], length: number, now: number) {
  const sum = {
    impressions: 0,
    engagements: 0,
    /** Campaigns without a known growth of this window: their growth is not in the sums. */
    omitted: 0,
    /** Campaigns in the sums. */
    counted: 0,
    /** Campaigns in the sums that are younger than the window. */
    young: 0,
    /** Start of the oldest young campaign's growth (ms since 1970). */
    youngSince: Infinity,
  }
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
