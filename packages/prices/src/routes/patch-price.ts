import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { normalizeId } from '../core/price-id.ts'
import { parsePriceJson, stringifyPrice } from '../core/price-json.ts'
import { errors } from '../errors.ts'
import type { PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import { checkId, idSchema, patchSchema, priceReplySchema, readPatch } from '../price-schema.ts'
import { parseJson, readBodyText } from '../search/json-body.ts'
import { logErrors, setStalenessHeaders } from './read-consistency.ts'
import { checkBodyId } from './check-body-id.ts'
import { JSON_TYPE } from './media-types.ts'

const MEDIA_TYPES = ['application/merge-patch+json', JSON_TYPE]

/**
 * Adds the route that changes fields of a price. The main thread applies the patch to the price as it is then.
 * @param app a scope without other routes, because its parsers keep the bytes of the body
 */
export function addPatchRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  replica: Replica | undefined,
): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(MEDIA_TYPES, { parseAs: 'buffer' }, (_request: FastifyRequest, body: unknown, done: any) =>
    done(null, body),
  )
  app.patch(
    '/prices/:id',
    {
      config: { mediaTypes: MEDIA_TYPES },
      validatorCompiler: skipBodyValidation,
      schema: {
        tags: ['prices'],
        operationId: 'patchPrice',
        summary: 'Change fields of a price',
        description:
          'A JSON merge patch (RFC 7396): null removes an optional field; `charValues` is replaced as a whole.',
        params: { type: 'object', required: ['id'], properties: { id: idSchema } },
        body: { content: Object.fromEntries(MEDIA_TYPES.map((type) => [type, { schema: patchSchema }])) },
        response: {
          200: priceReplySchema,
          ...buildChangeReplies(
            ...storeErrors,
            ...logErrors,
            commonErrors.VALIDATION_FAILED,
            commonErrors.BAD_JSON,
            errors.PRICE_NOT_FOUND,
            errors.ID_MISMATCH,
            errors.VALUE_NOT_STORABLE,
            errors.TYPE_CONFLICT,
            errors.DUPLICATE_CHARACTERISTIC,
            errors.INVALID_DATE_RANGE,
          ),
        },
      } as never,
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const { id: pathId } = request.params as { id: string }
      checkId(pathId, 'params')
      const id = normalizeId(pathId)
      const text = readBodyText((request.body as Buffer | undefined) ?? Buffer.alloc(0))
      const patch = readPatch(parseJson(text, parsePriceJson))
      checkBodyId(patch.id, id)
      const { price } = await bus.call('patch', { key: id, body: text })
      setStalenessHeaders(replica, reply)
      return reply.type(JSON_TYPE).send(stringifyPrice(price))
    },
  )
}
