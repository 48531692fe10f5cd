import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { sendChunks } from '@influencer-stats/runtime/stream-reply'
import { errors } from '../errors.ts'
import type { ExportRange, PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import { anyIdSchema } from '../price-schema.ts'
import { consistencyParameters, consistencyErrors, waitForConsistency } from './read-consistency.ts'
import { beginLines, LINES_TYPE } from './begin-lines.ts'

/** Adds the route that exports prices. The main thread reads them, and holds their state from the beginning of the reply to its end. */
export function addExportRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
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
        summary: 'Export prices, one per line',
        description:
          'The prices are in the order of their ids and from one snapshot. `POST /prices/import` accepts the lines.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            after: { ...anyIdSchema, description: 'Only prices with a higher id than this one.' },
            limit: { type: 'integer', minimum: 1, description: 'Maximum number of prices.' },
            ...consistencyParameters,
          },
        },
        response: {
          200: { description: 'The prices.', content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
          ...buildReadReplies(
            commonErrors.VALIDATION_FAILED,
            errors.TOO_MANY_EXPORTS,
            errors.EXPORT_LOST,
            ...consistencyErrors,
          ),
        },
      } as never,
    },
    async (request, reply) => {
      await waitForConsistency(replica, request.query, reply)
      const token = await bus.call('exportStart', request.query as ExportRange)
      try {
        const begin = () => beginLines(reply)
        await sendChunks(() => bus.call('exportNext', token), reply.raw, { begin, timeout: sendTimeout })
      } finally {
        await bus.call('exportEnd', token)
      }
    },
  )
}
