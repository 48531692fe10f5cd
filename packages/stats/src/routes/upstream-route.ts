import type { App } from '@influencer-stats/runtime/http'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { PROBLEM_TYPE, problemSchema } from '@influencer-stats/runtime/problems'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { UpstreamState } from '../core/upstream-state.ts'
import { errors } from '../errors.ts'

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

const upstreamProblemSchema = {
  ...problemSchema,
  title: 'UpstreamProblem',
  properties: { ...problemSchema.properties, reason, remedy, retryAt },
} as const

/** Error replies of every read of a collection's numbers. A 503 may be `UPSTREAM_UNAVAILABLE`, which has more members. */
export function buildNumbersReplies() {
  const replies = buildReadReplies(
    commonErrors.VALIDATION_FAILED,
    errors.COLLECTION_NOT_FOUND,
    errors.STATE_UNAVAILABLE,
    errors.UPSTREAM_UNAVAILABLE,
    errors.STATS_NOT_READY,
  )
  return { ...replies, 503: { ...replies[503]!, content: { [PROBLEM_TYPE]: { schema: upstreamProblemSchema } } } }
}

/** Serves the state of the YouTube Data API. */
export function registerUpstreamRoute(app: App, state: () => UpstreamState | Promise<UpstreamState>): void {
  app.get(
    '/upstream',
    {
      schema: {
        tags: ['statistics'],
        operationId: 'getUpstream',
        summary: 'Availability of the YouTube Data API, and the remaining daily budget',
        description:
          'In an outage all calls pause. At `retryAt` one call probes the API. With the caches `lru`, `none` and ' +
          '`refresh`, this is the state of one thread.',
        response: {
          200: {
            type: 'object',
            title: 'Upstream',
            required: ['state', 'source', 'budget'],
            additionalProperties: false,
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
                description:
                  'Quota units of this day, in Pacific Time. Without a limit, `limit` and `left` are `null`.',
                required: ['limit', 'used', 'left'],
                additionalProperties: false,
                properties: { limit, used: count, left: limit },
              },
            },
            examples: [
              {
                state: 'paused',
                reason: 'API_KEY_HTTP_REFERRER_BLOCKED',
                detail: 'YouTube responded with 403 (API_KEY_HTTP_REFERRER_BLOCKED) to the API key …x4Qk',
                remedy:
                  "In the Google Cloud console, allow this server's IP address in the application restrictions of the key.",
                since: '2026-11-20T10:00:00.000Z',
                retryAt: '2026-11-20T10:15:00.000Z',
                key: '…x4Qk',
                source: 'https://www.googleapis.com',
                budget: { limit: 10_000, used: 312, left: 9_688 },
              },
            ],
          },
          ...buildReadReplies(),
        },
      },
    },
    async () => state(),
  )
}
