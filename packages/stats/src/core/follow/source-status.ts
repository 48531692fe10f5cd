import type { CampaignSource, Collection } from '../campaign.ts'
import { toIsoTime } from '../iso-time.ts'
import { getSideUnitsLeft, getTimeUntilReset } from '../quota-budget.ts'
import type { UpstreamState } from '../upstream-state.ts'
import type { Feed } from './feed.ts'
import { getActiveSources, getFollowedPeriod } from './upload-rules.ts'

export const SOURCE_STATES = ['waiting', 'active', 'failing', 'paused', 'inactive'] as const

/** A source of a campaign with what the service knows of it. */
export interface SourceStatus extends CampaignSource {
  /**
   * `waiting`: not checked yet. `active`: the last check succeeded. `failing`: YouTube refuses the list. `paused`: no
   * calls at present, because of an outage or the budget. `inactive`: it is not checked now.
   */
  readonly state: (typeof SOURCE_STATES)[number]
  /**
   * Why it is not active: for `failing` and an outage the reason of YouTube; for the budget `dailyBudgetSpent` or
   * `sideBudgetSpent`; for `inactive` `archived`, `notBegun`, `ended` or `noPoller`.
   */
  readonly reason?: string
  /** Number of videos of the campaign that the source added. */
  readonly added: number
  /** Time of the last check (ISO 8601). */
  readonly checked?: string
  /** Time of the next check, as far as it is planned (ISO 8601). */
  readonly next?: string
}

interface SourceCircumstances {
  /** Last check of the playlist of the source; undefined before the first one. */
  readonly feed: Feed | undefined
  readonly upstream: UpstreamState
  /** False if this service checks no sources: it has no poller. */
  readonly isPolled: boolean
  /** ms since 1970 */
  readonly now: number
}

type StateWithTime = Pick<SourceStatus, 'state' | 'reason' | 'next'>

export function getSourceStatus(
  campaign: Collection,
  source: CampaignSource,
  circumstances: SourceCircumstances,
): SourceStatus {
  const { feed } = circumstances
  const added = Object.values(campaign.followed ?? {}).filter((id) => id === source.id).length
  return {
    ...source,
    ...getState(campaign, circumstances),
    added,
    ...(feed && { checked: toIsoTime(feed.asOf) }),
  }
}

function getState(campaign: Collection, { feed, upstream, isPolled, now }: SourceCircumstances): StateWithTime {
  if (!isPolled) return { state: 'inactive', reason: 'noPoller' }
  if (getActiveSources(campaign, now).length === 0) return getInactiveState(campaign, now)
  const pause = getPause(upstream, now)
  const nextAt = Math.max(now, feed?.nextAt ?? now, pause?.until ?? now)
  const next = toIsoTime(nextAt)
  if (feed?.reason !== undefined) return { state: 'failing', reason: feed.reason, next }
  if (pause) return { state: 'paused', ...(pause.reason !== undefined && { reason: pause.reason }), next }
  return { state: feed ? 'active' : 'waiting', next }
}

function getInactiveState(campaign: Collection, now: number): StateWithTime {
  if (campaign.archived) return { state: 'inactive', reason: 'archived' }
  const { from } = getFollowedPeriod(campaign)
  return from > now
    ? { state: 'inactive', reason: 'notBegun', next: toIsoTime(from) }
    : { state: 'inactive', reason: 'ended' }
}

/** Returns the reason why no source is checked at present, and its end (ms since 1970). */
function getPause({ state, reason, retryAt, budget: { limit, left, kinds } }: UpstreamState, now: number) {
  if (state === 'paused' || state === 'failing')
    return { reason, until: retryAt === undefined ? now : Date.parse(retryAt) }
  const untilReset = getTimeUntilReset(now)
  const usedBySideCalls = kinds.channels + kinds.playlistItems
  const quota = { budget: limit ?? 0, left: left ?? Infinity, untilReset, usedBySideCalls }
  return getSideUnitsLeft(quota) < 1 ? { reason: 'sideBudgetSpent', until: now + untilReset } : undefined
}
