import type { Replica } from '@influencer-stats/log/replica'
import type { Budget } from '@influencer-stats/runtime/budget'
import type { Bus } from '@influencer-stats/runtime/channel'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { openReplyOutput } from '@influencer-stats/runtime/reply-output'
import { sendChunks } from '@influencer-stats/runtime/stream-reply'
import { errors } from '../errors.ts'
import type { ExportRange, PriceFormat, PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import { anyIdSchema } from '../price-schema.ts'
import { consistencyParameters, consistencyErrors, waitForConsistency } from './read-consistency.ts'
import { CSV_TYPE, LINES_TYPE } from './media-types.ts'

const text = { type: 'string' }

/** Returns the format that a client prefers: CSV only if it names that type. */
function toFormat(accept = ''): PriceFormat {
  const getQuality = (type: string) => {
    const range = accept.split(',').find((one) => one.split(';', 1)[0]!.trim().toLowerCase() === type)
    return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/i.exec(range)?.[1] ?? 1)
  }
  return getQuality(CSV_TYPE) > getQuality(LINES_TYPE) ? 'csv' : 'ndjson'
}

/**
 * Adds the route that exports prices. The main thread reads them, and holds their state from the beginning of the reply
 * to its end.
 * @param sendTimeout maximum time for which a client may delay a part of its reply (ms)
 */
export function addExportRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  replica: Replica | undefined,
  sendTimeout: number,
  budget: Budget,
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
          'The prices are in the order of their ids and from one snapshot. `POST /prices/import` accepts the lines. In ' +
          'CSV the first line has the headings, and each characteristic has a column for each kind of its values: ' +
          '`text.NAME`, `integer.NAME`, `boolean.NAME`, `range.NAME` (`10..99`) or `json.NAME`.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            after: { ...anyIdSchema, description: 'Only prices with a higher id than this one.' },
            limit: { type: 'integer', minimum: 1, description: 'Maximum number of prices.' },
            format: {
              type: 'string',
              enum: ['ndjson', 'csv'],
              description: 'Format of the lines. Default: CSV if `Accept` prefers `text/csv`, otherwise NDJSON.',
            },
            ...consistencyParameters,
          },
        },
        response: {
          200: {
            description: 'The prices.',
            content: { [LINES_TYPE]: { schema: text }, [CSV_TYPE]: { schema: text } },
          },
          ...buildReadReplies(
            commonErrors.VALIDATION_FAILED,
            errors.TOO_MANY_COLUMNS,
            errors.TOO_MANY_EXPORTS,
            errors.EXPORT_LOST,
            ...consistencyErrors,
          ),
        },
      } as never,
    },
    async (request, reply) => {
      await waitForConsistency(replica, request.query, reply)
      const { after, limit, format = toFormat(request.headers.accept) } = request.query as ExportRange
      const token = await bus.call('exportStart', { after, limit, format })
      reply.header('vary', 'accept')
      const type = format === 'csv' ? `${CSV_TYPE}; charset=utf-8; header=present` : LINES_TYPE
      try {
        const { stream: output, begin } = openReplyOutput(request, reply, budget, type)
        await sendChunks(() => bus.call('exportNext', token), reply.raw, { begin, timeout: sendTimeout, output })
      } finally {
        await bus.call('exportEnd', token)
      }
    },
  )
}
