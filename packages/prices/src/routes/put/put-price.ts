import { toStalenessHeaders, type Replica } from '@influencer-stats/log/replica'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineHotRoute } from '@influencer-stats/runtime/hot-route'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import { toStoredPrice } from '../../core/price.ts'
import { normalizeId } from '../../core/price-id.ts'
import { parsePriceJson, stringifyPrice } from '../../core/price-json.ts'
import { UUID_PATTERN } from '../../core/values/uuid.ts'
import { errors } from '../../errors.ts'
import { parseJson, readBodyText } from '../../search/json-body.ts'
import { MAX_PUTS_PER_TURN, type PutPrice } from './batch-puts.ts'
import { checkId, idSchema, priceBodySchema, priceReplySchema, readPrice } from '../../price-schema.ts'
import { logErrors } from '../read-consistency.ts'
import { createPerTurnLimiter } from './per-turn-limiter.ts'
import { checkBodyId } from '../check-body-id.ts'
import { JSON_TYPE } from '../media-types.ts'

const PRICES_PATH = '/prices/'
const ID_PATTERN = new RegExp(UUID_PATTERN)

/** Creates the route that puts one price. It is a hot route, because clients put thousands of prices. */
export function createPutRoute(put: PutPrice, replica: Replica | undefined, bodyLimit: number) {
  const waitForTurn = createPerTurnLimiter(MAX_PUTS_PER_TURN)

  return defineHotRoute<string>({
    method: 'PUT',
    url: `${PRICES_PATH}:id`,
    validatorCompiler: skipBodyValidation,
    body: { limit: bodyLimit, tooLarge: commonErrors.BODY_TOO_LARGE, type: JSON_TYPE, acceptsGzip: true },
    schema: {
      tags: ['prices'],
      operationId: 'putPrice',
      summary: 'Create or replace a price',
      description: 'The reply follows once the price is durable and every thread finds it.',
      params: { type: 'object', required: ['id'], properties: { id: idSchema } },
      body: priceBodySchema,
      response: {
        200: priceReplySchema,
        201: priceReplySchema,
        ...buildChangeReplies(
          ...storeErrors,
          ...logErrors,
          commonErrors.VALIDATION_FAILED,
          commonErrors.BAD_GZIP,
          errors.CATALOG_FULL,
          errors.ID_MISMATCH,
          errors.VALUE_NOT_STORABLE,
          errors.TYPE_CONFLICT,
          errors.DUPLICATE_CHARACTERISTIC,
          errors.INVALID_DATE_RANGE,
        ),
      },
    },
    match(target) {
      if (!target.startsWith(PRICES_PATH)) return undefined
      const id = target.slice(PRICES_PATH.length)
      return ID_PATTERN.test(id) ? id : undefined
    },
    read: ({ params }) => (params as { id: string }).id,
    async answer(pathId, { body }) {
      // Without this limit, a search that arrives with many puts waits for all of them.
      await waitForTurn()
      const text = readBodyText(body)
      const price = readPrice(parseJson(text, parsePriceJson))
      checkId(pathId, 'params')
      const id = normalizeId(pathId)
      checkBodyId(price.id, id)
      // The main thread receives the text and parses it again, because to clone an object costs more.
      const isNew = await put({ key: id, body: text })
      const stored = toStoredPrice({ ...price, id })
      return {
        status: isNew ? 201 : 200,
        headers: replica ? toStalenessHeaders(replica) : [],
        type: JSON_TYPE,
        body: stringifyPrice(stored),
      }
    },
  })
}
