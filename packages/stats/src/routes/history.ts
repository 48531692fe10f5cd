import { Readable } from 'node:stream'
import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import type { Collections } from '../collections.ts'
import type { Point } from '../core/history.ts'
import { errors } from '../errors.ts'
import { everyStepOf, historyPages } from '../history-pages.ts'
import { collectionParams, historyReply } from './schemas.ts'

const time = { type: 'string', format: 'date-time' } as const

/** How a collection's sums came to be what they are. @param retention how far back it goes (ms) */
export function historyRoutes(app: App, collections: Collections, retention: number): void {
  app.get(
    '/collections/:id/stats/history',
    {
      schema: {
        tags: ['statistics'],
        operationId: 'getHistory',
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
    async ({ params: { id }, query }, reply) => {
      if (!(await collections.get(id))) throw errors.COLLECTION_NOT_FOUND(id)
      const now = Date.now()
      const from = Math.max(query.from === undefined ? 0 : Date.parse(query.from), now - retention)
      const to = query.to === undefined ? now : Date.parse(query.to)
      const pages = historyPages(collections, id, from, to)
      const chosen = query.step === undefined ? pages : everyStepOf(pages, query.step * 1000)
      // What the state has to say against it comes with the first page, while there can still be another reply.
      const first = await chosen.next()
      const body = Readable.from(toJson(first, chosen), { objectMode: false })
      return reply.type('application/json; charset=utf-8').send(body as never)
    },
  )
}

/** The reply, a page at a time. */
async function* toJson(first: IteratorResult<Point[]>, more: AsyncIterable<Point[]>): AsyncGenerator<string> {
  let text = '{"points":['
  let comma = ''
  const take = (points: Point[]) => {
    for (const point of points) {
      text += comma + JSON.stringify({ ...point, at: new Date(point.at).toISOString() })
      comma = ','
    }
  }
  if (!first.done) take(first.value)
  for await (const points of more) {
    yield text
    text = ''
    take(points)
  }
  yield `${text}]}`
}
