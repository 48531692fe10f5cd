import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import type { Collections } from '../collections.ts'
import { everyStep } from '../core/history.ts'
import { errors } from '../errors.ts'
import { collectionParams, historyReply } from './schemas.ts'

const time = { type: 'string', format: 'date-time' } as const

/** How a collection's sums came to be what they are. @param retention how far back it goes (ms) */
export function historyRoutes(app: App, collections: Collections, retention: number): void {
  app.get(
    '/collections/:id/stats/history',
    {
      schema: {
        tags: ['statistics'],
        summary: 'A point whenever the sums changed; one an hour after a day',
        params: collectionParams,
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            from: { ...time, description: 'No points before this time.' },
            to: { ...time, description: 'No points after this time.' },
            step: {
              type: 'integer',
              minimum: 1,
              maximum: 2_592_000,
              description: 'At most one point for each so many seconds.',
            },
          },
        },
        response: {
          200: historyReply,
          ...readReplies(errors.STATE_UNAVAILABLE, house.VALIDATION_FAILED, errors.COLLECTION_NOT_FOUND),
        },
      },
    },
    async ({ params: { id }, query }) => {
      if (!(await collections.get(id))) throw errors.COLLECTION_NOT_FOUND(id)
      const now = Date.now()
      const from = Math.max(query.from === undefined ? 0 : Date.parse(query.from), now - retention)
      const to = query.to === undefined ? now : Date.parse(query.to)
      const points = await collections.history(id, from, to)
      const chosen = query.step === undefined ? points : everyStep(points, query.step * 1000)
      return { points: chosen.map((point) => ({ ...point, at: new Date(point.at).toISOString() })) }
    },
  )
}
