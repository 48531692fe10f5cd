import type { FromSchema } from 'json-schema-to-ts'
import { isUpstreamWide, type UpstreamFault } from './circuit-breaker.ts'
import { toIsoTime } from './iso-time.ts'
import type { RemainingQuota, UnitsByKind } from './quota-budget.ts'
import { STAND_IN } from './sources.ts'

const reason = {
  type: 'string',
  description:
    "Google's machine-readable reason, such as `API_KEY_INVALID`; the code of a network error, such as `ECONNREFUSED`; or " +
    '`dailyBudgetSpent` for the budget of stats.',
} as const
const remedy = { type: 'string', description: 'Remedy for the operator, in one sentence.' } as const
const retryAt = { type: 'string', format: 'date-time', description: 'No call is made before this time.' } as const
const count = { type: 'integer', minimum: 0 } as const
const limit = { type: ['integer', 'null'], minimum: 0 } as const

/** State of the API, and the remaining quota of the day. */
export const upstreamSchema = {
  type: 'object',
  additionalProperties: false,
  title: 'Upstream',
  required: ['state', 'source', 'budget'],
  examples: [
    {
      state: 'paused',
      reason: 'API_KEY_HTTP_REFERRER_BLOCKED',
      detail: 'YouTube responded with 403 (API_KEY_HTTP_REFERRER_BLOCKED) to the API key …x4Qk',
      remedy: "In the Google Cloud console, allow this server's IP address in the application restrictions of the key.",
      since: '2026-11-20T10:00:00.000Z',
      retryAt: '2026-11-20T10:15:00.000Z',
      key: '…x4Qk',
      source: 'https://www.googleapis.com',
      budget: {
        limit: 10_000,
        used: 312,
        left: 9_688,
        kinds: { videos: 300, channels: 6, playlistItems: 4, lookups: 2 },
      },
    },
  ],
  properties: {
    state: {
      type: 'string',
      enum: ['ok', 'unknown', 'failing', 'paused'],
      description:
        '`paused`: YouTube refuses all calls, or the daily budget is used up. `failing`: calls fail for another ' +
        'reason. No call is made before `retryAt`. ' +
        '`unknown`: no call has succeeded or failed yet, since the start or since a change of a refused key.',
    },
    reason,
    detail: { type: 'string' },
    remedy,
    since: { type: 'string', format: 'date-time' },
    retryAt,
    key: {
      type: 'string',
      description:
        'Last four characters of the API key, or of the refused key if there is one. Absent for the stand-in, and ' +
        'on a node whose source is not that of the cluster.',
    },
    source: { type: 'string', description: 'Origin of the numbers.' },
    budget: {
      type: 'object',
      description: 'Quota units of this day, in Pacific Time. Without a limit, `limit` and `left` are `null`.',
      required: ['limit', 'used', 'left', 'kinds'],
      additionalProperties: false,
      properties: {
        limit,
        used: count,
        left: limit,
        kinds: {
          type: 'object',
          description:
            'Used units by kind of call: numbers of videos, channels, playlists that campaigns follow, and look-ups of ' +
            'what a person entered.',
          required: ['videos', 'channels', 'playlistItems', 'lookups'],
          additionalProperties: false,
          properties: { videos: count, channels: count, playlistItems: count, lookups: count },
        },
      },
    },
  },
} as const

export type UpstreamState = FromSchema<typeof upstreamSchema>

/** An outage of the API. `since` is absent if only the daily budget of this service is used up. */
export interface UpstreamOutage
  extends
    Pick<UpstreamState, 'reason' | 'since' | 'key'>,
    Required<Pick<UpstreamState, 'detail' | 'remedy' | 'retryAt'>> {
  readonly state: 'failing' | 'paused'
}

/**
 * Converts a fault that pauses all calls to an outage.
 * @param since beginning of the pause (ms since the epoch)
 * @param until end of the pause (ms since the epoch)
 */
export function toOutage(fault: UpstreamFault, since: number, until: number): UpstreamOutage {
  const { reason, detail, remedy, key } = fault
  const state = isUpstreamWide(fault) ? 'paused' : 'failing'
  return {
    state,
    ...(reason && { reason }),
    detail,
    remedy,
    since: toIsoTime(since),
    retryAt: toIsoTime(until),
    ...(key && { key }),
  }
}

/** Results of the calls to YouTube until now. */
export interface CallResults {
  readonly outage: UpstreamOutage | undefined
  /** True if a call has succeeded: see `CircuitBreaker`. */
  readonly hasSucceeded: boolean
}

export interface UpstreamStateParts extends CallResults {
  readonly remainingQuota: RemainingQuota
  readonly used: number
  readonly usedByKind: UnitsByKind
  readonly source: string
  /** The API key in use, by its last four characters; `undefined` if it is for another source. */
  readonly key: string | undefined
  /** ms since the epoch */
  readonly now: number
}

/** Creates the outage in which no call is made because the daily budget of this service is used up. */
const createBudgetOutage = ({ budget, untilReset }: RemainingQuota, now: number): UpstreamOutage => ({
  state: 'paused',
  reason: 'dailyBudgetSpent',
  detail: `The daily budget of ${budget} units is used up`,
  remedy: 'Wait for the reset at midnight Pacific Time, or raise --daily-budget if the quota of the project is larger.',
  retryAt: toIsoTime(now + untilReset),
})

export function toUpstreamState({
  outage,
  hasSucceeded,
  remainingQuota,
  used,
  usedByKind,
  source,
  key,
  now,
}: UpstreamStateParts): UpstreamState {
  const { budget, left } = remainingQuota
  const known = outage ?? (left < 1 ? createBudgetOutage(remainingQuota, now) : undefined)
  return {
    state: hasSucceeded ? 'ok' : 'unknown',
    ...(key && source !== STAND_IN && { key }),
    ...known,
    source,
    budget: { limit: budget === 0 ? null : budget, used, left: budget === 0 ? null : left, kinds: usedByKind },
  }
}
