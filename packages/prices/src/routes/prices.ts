import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { stringifyPrice } from '../core/price-json.ts'
import { errors } from '../errors.ts'
import type { PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import { idSchema, priceReplySchema } from '../price-schema.ts'
import {
  consistencyParameters,
  consistencyErrors,
  logErrors,
  waitForConsistency,
  setStalenessHeaders,
} from './read-consistency.ts'

const tags = ['prices']
const params = { type: 'object', required: ['id'], properties: { id: idSchema } } as const

/** Adds the routes that read and delete a price. The main thread makes every change. */
export function addPriceRoutes(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  replica: Replica | undefined,
): void {
  app.get(
    '/prices/:id',
    {
      schema: {
        tags,
        operationId: 'getPrice',
        summary: 'Read a price',
        params,
        querystring: { type: 'object', additionalProperties: false, properties: consistencyParameters },
        response: {
          200: priceReplySchema,
          ...buildReadReplies(commonErrors.VALIDATION_FAILED, errors.PRICE_NOT_FOUND, ...consistencyErrors),
        },
      },
    },
    async ({ params: { id }, query }, reply) => {
      await waitForConsistency(replica, query, reply)
      const price = await bus.call('get', id)
      if (!price) throw errors.PRICE_NOT_FOUND(id)
      return reply.type('application/json').send(stringifyPrice(price) as never)
    },
  )

  app.delete(
    '/prices/:id',
    {
      schema: {
        tags,
        operationId: 'deletePrice',
        summary: 'Delete a price',
        params,
        response: {
          204: { type: 'null', description: 'Deleted.' },
          ...buildChangeReplies(...storeErrors, ...logErrors, commonErrors.VALIDATION_FAILED, errors.PRICE_NOT_FOUND),
        },
      },
    },
    async (request, reply) => {
      const wasPresent = await bus.call('remove', request.params.id)
      setStalenessHeaders(replica, reply)
      if (!wasPresent) throw errors.PRICE_NOT_FOUND(request.params.id)
      return reply.code(204).send(null)
    },
  )
}
