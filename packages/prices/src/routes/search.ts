import { errors as house } from '@influencer-stats/runtime/errors'
import { defineHotRoute } from '@influencer-stats/runtime/hot-route'
import type { App } from '@influencer-stats/runtime/http'
import { Problem } from '@influencer-stats/runtime/problems'
import { reportFault, type FaultSinks } from '@influencer-stats/runtime/problem-replies'
import { readReplies } from '@influencer-stats/runtime/replies'
import { headersOf } from '@influencer-stats/runtime/streamed'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerBulk, Rooms } from '../bulk.ts'
import { errors } from '../errors.ts'
import { idSchema } from '../price-schema.ts'
import { searchBody } from '../search-schema.ts'
import { Searcher } from '../searcher.ts'
import type { Views } from '../view.ts'
import { BULK, SEARCH } from '../paths.ts'
import { dropRest, unreadBody } from './raw-body.ts'

const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'

const params = {
  type: 'object',
  required: ['index'],
  properties: {
    index: { type: 'string', description: '`bitmap` (the default one), `map`, or the name of an alternative.' },
  },
} as const

const answer = {
  type: 'object',
  properties: {
    id: idSchema,
    spec: { type: 'string' },
    value: { type: 'number' },
    currency: { type: 'string' },
    error: {
      type: 'object',
      description: 'With `explain`, why there is no price.',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
    explain: {
      type: 'array',
      description: 'With `explain`, how many prices each condition left.',
      items: {
        type: 'object',
        required: ['condition', 'left'],
        properties: { condition: { type: 'string' }, left: { type: 'integer' } },
      },
    },
  },
} as const

const misses = [
  errors.INDEX_NOT_LOADED,
  errors.PRICE_NOT_FOUND,
  errors.OFFERING_NOT_FOUND,
  errors.GROUP_NOT_FOUND,
  errors.SPEC_NOT_FOUND,
  errors.CHARACTERISTIC_NOT_FOUND,
  errors.VALUE_NOT_FOUND,
]
const bodyFaults = [house.VALIDATION_FAILED, house.BAD_JSON, house.UNSUPPORTED_MEDIA_TYPE, house.BODY_TOO_LARGE]

/** One search: the hottest route of the service. */
export function searchRoute(views: Views, names: readonly string[], bodyLimit: number) {
  const searcher = new Searcher()
  const nameByTarget = new Map(names.map((name) => [SEARCH.replace(':index', name), name]))

  return defineHotRoute<string>({
    method: 'POST',
    url: SEARCH,
    access: 'read',
    validatorCompiler: unreadBody,
    body: { limit: bodyLimit, tooLarge: house.BODY_TOO_LARGE, type: JSON_TYPE },
    schema: {
      tags: ['search'],
      summary: 'The price that fits',
      description:
        'Operators are `equals` (the default), `not`, `in`, `notIn` and `between`. A row that lacks the characteristic ' +
        'fits none of them. Of several rows that fit, the first default one is taken.',
      params,
      body: searchBody,
      response: {
        200: answer,
        ...readReplies(...misses, ...bodyFaults, errors.VALUE_TYPE, errors.PRICES_AMBIGUOUS),
      },
    },
    match: (target) => nameByTarget.get(target),
    read: (request) => (request.params as { index: string }).index,
    answer(name, { body }) {
      const view = views.current()
      const index = views.indexOf(view, name)
      if (body.length === 0) throw house.BAD_JSON('there is no body')
      return { status: 200, headers: [], type: JSON_TYPE, body: searcher.answer(body, view, index) }
    },
  })
}

/** Many searches in one request. */
export async function bulkRoute(root: App, views: Views, faults: FaultSinks, sendTimeout: number): Promise<void> {
  const searcher = new Searcher()
  const rooms = new Rooms()

  await root.register(async (app: App) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser([JSON_TYPE, LINES_TYPE], (_request: FastifyRequest, payload: unknown, done: any) =>
      done(null, payload),
    )
    app.post(
      BULK,
      {
        config: { access: 'read' },
        validatorCompiler: unreadBody,
        schema: {
          tags: ['search'],
          summary: 'Many searches in one request',
          description:
            'The body is search requests, each with an `id`, one after the other, with or without a line break between. ' +
            'The answers, `{"price"?,"error":{"message"?,"code"?},"id"}`, come in their order, one a line, while the ' +
            'request is still being sent. A body that breaks off ends with one error.',
          params,
          body: { content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
          response: {
            200: { content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
            ...readReplies(errors.INDEX_NOT_LOADED, errors.ITEM_TOO_LARGE, ...bodyFaults),
          },
        } as never,
      },
      async (request: FastifyRequest, reply: FastifyReply) => {
        const view = views.current()
        const index = views.indexOf(view, (request.params as { index: string }).index)
        if (!request.body) throw house.VALIDATION_FAILED('there is no body')
        const { raw } = reply
        // Bulk requests last: each has its searcher's buffers for itself between two chunks, and its view to the end.
        view.hold()
        const begin = () => {
          reply.hijack()
          raw.writeHead(200, [...headersOf(reply), 'content-type', LINES_TYPE, 'x-content-type-options', 'nosniff'])
        }
        try {
          const whole = await answerBulk(request.raw, raw, {
            searcher,
            rooms,
            view,
            index,
            begin,
            onFault: (error, problem) => reportFault(faults, error, problem, request.id),
            patience: sendTimeout,
          })
          raw.end()
          if (!whole) dropRest(request)
        } catch (error) {
          // Whoever left, or never reads, gets no more.
          if (reply.sent) raw.destroy()
          else if (!(error instanceof Problem) && request.raw.destroyed)
            throw house.BAD_REQUEST('the request broke off')
          else throw error
        } finally {
          await view.release()
        }
      },
    )
  })
}
