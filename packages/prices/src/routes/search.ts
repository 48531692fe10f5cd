import { freshnessOf, type Replica } from '@influencer-stats/log/replica'
import { errors as house } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type Reply } from '@influencer-stats/runtime/hot-route'
import type { App } from '@influencer-stats/runtime/http'
import { reportFault, type FaultSinks } from '@influencer-stats/runtime/problem-replies'
import { Problem, problemReplies, problemSchema, PROBLEM_TYPE } from '@influencer-stats/runtime/problems'
import { readReplies } from '@influencer-stats/runtime/replies'
import { headersOf } from '@influencer-stats/runtime/streamed'
import { unreadBody } from '@influencer-stats/runtime/validation'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerBulk, Rooms } from '../bulk.ts'
import { errors } from '../errors.ts'
import { exampleSearch } from '../examples.ts'
import { anyId, idSchema } from '../price-schema.ts'
import { searchBody } from '../search-schema.ts'
import { MOST_CANDIDATES, Searcher } from '../searcher.ts'
import { sendAll, type AllOf, type AllOptions } from './all.ts'
import type { Views } from '../view.ts'
import { BULK, SEARCH } from '../paths.ts'
import { freshness, freshnessFaults, seen, tellFreshness, wantedOf, type Freshness } from './freshness.ts'
import { dropRest } from './raw-body.ts'

const JSON_TYPE = 'application/json'
const LINES_TYPE = 'application/x-ndjson'

const EXAMPLE_ITEM = `${JSON.stringify({ id: 'a', ...exampleSearch })}\n`

const params = {
  type: 'object',
  required: ['index'],
  properties: {
    index: {
      type: 'string',
      description: '`bitmap` (the default one), `map`, or the name of an alternative.',
      examples: ['bitmap'],
    },
  },
} as const

const foundFields = {
  id: idSchema,
  spec: { type: 'string' },
  value: { type: 'number' },
  currency: { type: 'string' },
} as const
const found = {
  type: 'object',
  title: 'FoundPrice',
  required: ['id', 'spec', 'value', 'currency'],
  additionalProperties: false,
  properties: foundFields,
} as const

const answer = {
  type: 'object',
  title: 'SearchAnswer',
  properties: {
    ...foundFields,
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
const ambiguous = problemReplies(errors.PRICES_AMBIGUOUS, errors.QUERY_CLASH)[409]!
const candidates = {
  type: 'array',
  maxItems: MOST_CANDIDATES,
  description: 'The first of those that fit.',
  items: found,
} as const
/** What none can be chosen of is named. */
const ambiguousReply = {
  ...ambiguous,
  content: {
    [PROBLEM_TYPE]: {
      schema: { ...problemSchema, title: 'AmbiguousPrices', properties: { ...problemSchema.properties, candidates } },
    },
  },
}
const bodyFaults = [house.VALIDATION_FAILED, house.BAD_JSON, house.UNSUPPORTED_MEDIA_TYPE, house.BODY_TOO_LARGE]

const everything = {
  type: 'object',
  additionalProperties: false,
  properties: {
    all: {
      type: 'boolean',
      default: false,
      description: 'Every price that fits, a line each, in the order of their ids; none is an empty reply.',
    },
    limit: { type: 'integer', minimum: 1, description: 'Of all, at most so many.' },
    after: { ...anyId, description: 'Of all, those with a higher id than this one.' },
    ...freshness,
  },
} as const

interface SearchOptions extends Omit<AllOptions, 'searcher'> {
  readonly replica: Replica | undefined
  /** The names of indexes that a path may have. */
  readonly names: readonly string[]
  readonly bodyLimit: number
}

/** A search with parameters in its query. */
interface Asked extends AllOf, Freshness {
  readonly all: boolean
}

/** One search: the hottest route of the service. */
export function searchRoute({ views, names, replica, bodyLimit, budget, timeout }: SearchOptions) {
  const searcher = new Searcher()
  const nameByTarget = new Map(names.map((name) => [SEARCH.replace(':index', name), name]))

  function find(body: Buffer, name: string): Reply {
    // Before it is read: it is at least so new.
    const headers = replica ? freshnessOf(replica) : []
    const view = views.current()
    const index = views.indexOf(view, name)
    return { status: 200, headers, type: JSON_TYPE, body: searcher.answer(body, view, index) }
  }

  return defineHotRoute<string | Asked>({
    method: 'POST',
    url: SEARCH,
    access: 'read',
    validatorCompiler: unreadBody,
    body: { limit: bodyLimit, tooLarge: house.BODY_TOO_LARGE, type: JSON_TYPE },
    schema: {
      tags: ['search'],
      operationId: 'search',
      summary: 'The price that fits',
      description:
        'Operators are `equals` (the default), `not`, `in`, `notIn` and `between`. A row that lacks the characteristic ' +
        'fits none of them. Of several rows that fit, the first default one is taken.',
      params,
      querystring: everything,
      body: searchBody,
      response: {
        200: {
          description: 'The price, or all that fit.',
          content: { [JSON_TYPE]: { schema: answer }, [LINES_TYPE]: { schema: { type: 'string' } } },
        },
        ...readReplies(...misses, ...bodyFaults, errors.VALUE_TYPE, ...freshnessFaults),
        409: ambiguousReply,
      },
    },
    match: (target) => nameByTarget.get(target),
    read({ params: asked, query }) {
      const { index } = asked as { index: string }
      const { all = false, limit, after, ...rest } = query as Partial<Asked>
      if (!all && (limit !== undefined || after !== undefined))
        throw errors.QUERY_CLASH('limit and after need all=true')
      return { index, all, limit, after, ...rest }
    },
    serve(asked, request, reply) {
      if (typeof asked === 'string' || !asked.all) return undefined
      const send = () => sendAll(asked, request, reply, { views, searcher, budget, timeout })
      return seen(replica, asked, reply).then(send)
    },
    answer(asked, { body }) {
      if (typeof asked === 'string') return find(body, asked)
      const { index } = asked
      return replica ? replica.seen(wantedOf(asked)).then(() => find(body, index)) : find(body, index)
    },
  })
}

/** Many searches in one request. */
export async function bulkRoute(
  root: App,
  views: Views,
  replica: Replica | undefined,
  faults: FaultSinks,
  sendTimeout: number,
): Promise<void> {
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
        config: { access: 'read', cost: 10 },
        validatorCompiler: unreadBody,
        schema: {
          tags: ['search'],
          operationId: 'searchMany',
          summary: 'Many searches in one request',
          description:
            'The body is search requests, each with an `id`, one after the other, with or without a line break between. ' +
            'The answers, `{"price"?,"error":{"message"?,"code"?},"id"}`, come in their order, one a line, while the ' +
            'request is still being sent. A body that breaks off ends with one error.',
          params,
          body: { content: { [LINES_TYPE]: { schema: { type: 'string', examples: [EXAMPLE_ITEM] } } } },
          response: {
            200: { content: { [LINES_TYPE]: { schema: { type: 'string' } } } },
            ...readReplies(errors.INDEX_NOT_LOADED, errors.ITEM_TOO_LARGE, ...bodyFaults),
          },
        } as never,
      },
      async (request: FastifyRequest, reply: FastifyReply) => {
        tellFreshness(replica, reply)
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
