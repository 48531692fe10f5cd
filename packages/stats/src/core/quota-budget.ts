import { toPacificTime } from '@influencer-stats/runtime/pacific-time'

/** A day (ms). */
export const DAY_MS = 86_400_000

/** Maximum number of ids in one call of `videos.list`. A call costs one unit of quota, however many ids it has. */
export const IDS_PER_CALL = 50

/**
 * Kinds of calls other than those for the numbers of videos: `channels.list` and `playlistItems.list` of the poller, and
 * look-ups of what a person entered, by any method.
 */
export const SIDE_KINDS = ['channels', 'playlistItems', 'lookups'] as const
export type SideKind = (typeof SIDE_KINDS)[number]
export type QuotaKind = 'videos' | SideKind

/** Units of a day by kind of call. */
export type UnitsByKind = Readonly<Record<QuotaKind, number>>

/** Used quota of a day. */
export interface QuotaUsage {
  /** Day of the quota, `YYYY-MM-DD` in Pacific Time. */
  readonly day: string
  readonly used: number
  /** Units of the side calls, which `used` includes. A kind without units is absent. */
  readonly kinds?: Readonly<Partial<Record<SideKind, number>>>
}

/** Returns the usage of the later day, or the larger one of the same day. */
export const getLargerUsage = (one: QuotaUsage | undefined, other: QuotaUsage): QuotaUsage =>
  one && (one.day > other.day || (one.day === other.day && one.used >= other.used)) ? one : other

/** Returns the time until the quota is reset (ms). It is an hour off on the two days a year when the clocks change. */
export const getTimeUntilReset = (now: number): number => DAY_MS - (toPacificTime(now) % DAY_MS)

/** Remaining quota of a day. */
export interface RemainingQuota {
  /** Units per day; 0 means no limit. */
  readonly budget: number
  /** Units left; `Infinity` without a limit. */
  readonly left: number
  /** Time until the quota is reset (ms). */
  readonly untilReset: number
}

export const getRemainingQuota = (budget: number, used: number, now: number): RemainingQuota => ({
  budget,
  left: budget === 0 ? Infinity : Math.max(0, budget - used),
  untilReset: getTimeUntilReset(now),
})

/**
 * Returns the time over which `calls` calls are spread at an even rate (ms); 0 without a limit. The rate is the lower of
 * two: the whole budget over a whole day, and the units left over the time until the reset. If fewer units than calls
 * are left, the time is at least the time until the reset.
 */
export function getPacedInterval({ budget, left, untilReset: rest }: RemainingQuota, calls: number): number {
  if (budget === 0) return 0
  return Math.max((DAY_MS * calls) / budget, left < calls ? rest : (rest * calls) / left)
}

/**
 * Returns the interval between two refreshes of everything (ms): at least `minInterval`.
 * @param calls number of calls per refresh
 */
export const computeRefreshInterval = (remainingQuota: RemainingQuota, calls: number, minInterval: number): number =>
  Math.max(minInterval, getPacedInterval(remainingQuota, calls))

/** Quota of a day with the part that side calls have used. */
export interface SideQuota extends RemainingQuota {
  /** Units of `channels.list` and `playlistItems.list` since the reset. */
  readonly usedBySideCalls: number
}

/** Maximum share of the units that side calls use. */
export const SIDE_SHARE = 0.1

/** Returns the units that side calls may still use until the reset. */
export function getSideUnitsLeft({ budget, left, usedBySideCalls }: SideQuota): number {
  if (budget === 0) return Infinity
  if (left < 1) return 0
  const share = budget * SIDE_SHARE
  // At a small budget one unit a day exceeds the share, and a tenth of the units left is less than one.
  const ofDay = Math.max(1, share) - usedBySideCalls
  return Math.min(ofDay, Math.max(1, left * SIDE_SHARE))
}

/** Share of the daily budget that look-ups for a person leave to the numbers of videos. */
const RESERVED_SHARE = 0.1

/** True if a look-up for a person may use a unit. */
export const isLookupAllowed = ({ budget, left }: Pick<RemainingQuota, 'budget' | 'left'>): boolean =>
  budget === 0 || left > budget * RESERVED_SHARE
