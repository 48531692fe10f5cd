import type { App } from '@influencer-stats/runtime/http'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { PROBLEM_TYPE, problemSchema } from '@influencer-stats/runtime/problems'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { upstreamSchema, type UpstreamState } from '../core/upstream-state.ts'
import { errors } from '../errors.ts'

const { reason, remedy, retryAt } = upstreamSchema.properties
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
        response: { 200: upstreamSchema, ...buildReadReplies() },
      },
    },
    async () => state(),
  )
}
