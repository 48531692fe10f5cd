import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import { headersOf, sendPieces } from '@influencer-stats/runtime/streamed'
import { errors } from '../errors.ts'
import type { ExportRange, ToMain, ToThread } from '../messages.ts'
import { anyId } from '../price-schema.ts'
import { freshness, freshnessFaults, seen } from './freshness.ts'

const LINES_TYPE = 'application/x-ndjson'

/** All prices. Main reads them, and holds them as they are when the reply begins until it ends. */
export function exportRoute(
  app: App,
  bus: Bus<ToMain, ToThread>,
  replica: Replica | undefined,
  sendTimeout: number,
): void {
  app.get(
    '/prices',
    {
      config: { cost: 100 },
      exposeHeadRoute: false,
      schema: {
        tags: ['prices'],
        operationId: 'exportPrices',
        summary: 'Export prices, one a line',
        description:
          'In the order of their ids, as they are when the reply begins. `POST /prices/import` takes the lines as they are.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            after: { ...anyId, description: 'Only prices with a higher id than this one.' },
            limit: { type: 'integer', minimum: 1, description: 'At most so many.' },
            ...freshness,
          },
        },
        response: {
          200: { description: 'The prices.', content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
          ...readReplies(house.VALIDATION_FAILED, errors.EXPORTS_RUNNING, errors.EXPORT_LOST, ...freshnessFaults),
        },
      } as never,
    },
    async (request, reply) => {
      await seen(replica, request.query, reply)
      const token = await bus.call('exportStart', request.query as ExportRange)
      try {
        const begin = () => {
          reply.hijack()
          reply.raw.writeHead(200, [
            ...headersOf(reply),
            'content-type',
            LINES_TYPE,
            'x-content-type-options',
            'nosniff',
          ])
        }
        await sendPieces(() => bus.call('exportNext', token), reply.raw, { begin, timeout: sendTimeout })
      } finally {
        await bus.call('exportEnd', token)
      }
    },
  )
}
