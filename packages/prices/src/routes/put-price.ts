import { freshnessOf, type Replica } from '@influencer-stats/log/replica'
import { errors as house } from '@influencer-stats/runtime/errors'
import { defineHotRoute } from '@influencer-stats/runtime/hot-route'
import { changeReplies, storeFaults } from '@influencer-stats/runtime/replies'
import { unreadBody } from '@influencer-stats/runtime/validation'
import { keptPrice } from '../core/price.ts'
import { UUID } from '../core/uuid.ts'
import { errors } from '../errors.ts'
import { parseJson, textOf } from '../json-body.ts'
import { PUTS_A_TURN, type PutPrice } from '../put-groups.ts'
import { idSchema, priceBody, priceReply, readPrice } from '../price-schema.ts'
import { logFaults } from './freshness.ts'
import { turnstile } from '../turn.ts'

const JSON_TYPE = 'application/json'
const PATH = '/prices/'
const IS_ID = new RegExp(UUID)

/** One price put: hot, because a catalog's owner puts thousands. */
export function putRoute(put: PutPrice, replica: Replica | undefined, bodyLimit: number) {
  const enter = turnstile(PUTS_A_TURN)

  return defineHotRoute<string>({
    method: 'PUT',
    url: `${PATH}:id`,
    validatorCompiler: unreadBody,
    body: { limit: bodyLimit, tooLarge: house.BODY_TOO_LARGE, type: JSON_TYPE },
    schema: {
      tags: ['prices'],
      operationId: 'putPrice',
      summary: 'Make or replace a price',
      description: 'Answered when it is durable and every thread finds it.',
      params: { type: 'object', required: ['id'], properties: { id: idSchema } },
      body: priceBody,
      response: {
        200: priceReply,
        201: priceReply,
        ...changeReplies(
          ...storeFaults,
          ...logFaults,
          house.VALIDATION_FAILED,
          errors.CATALOG_FULL,
          errors.ID_MISMATCH,
          errors.TYPE_CONFLICT,
          errors.CHARACTERISTIC_TWICE,
          errors.DATES_REVERSED,
        ),
      },
    },
    match(target) {
      if (!target.startsWith(PATH)) return undefined
      const id = target.slice(PATH.length)
      return IS_ID.test(id) ? id : undefined
    },
    read: ({ params }) => (params as { id: string }).id,
    async answer(asked, { body }) {
      // A search that has come with many of them would wait for all that these take.
      await enter()
      const text = textOf(body)
      const price = readPrice(parseJson(text))
      const id = asked.toLowerCase()
      if (price.id !== undefined && price.id.toLowerCase() !== id) throw errors.ID_MISMATCH()
      // As text: an object costs more to clone than a text to parse.
      const isNew = await put({ key: id, body: text })
      const kept = keptPrice({ ...price, id })
      return {
        status: isNew ? 201 : 200,
        headers: replica ? freshnessOf(replica) : [],
        type: JSON_TYPE,
        body: JSON.stringify(kept),
      }
    },
  })
}
