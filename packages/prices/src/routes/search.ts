import { toStalenessHeaders, type Replica } from '@influencer-stats/log/replica'
import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type BufferedReply } from '@influencer-stats/runtime/hot-route'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { skipBodyValidation } from '@influencer-stats/runtime/validation'
import { MAX_TEXT_LENGTH } from '../core/price.ts'
import { errors } from '../errors.ts'
import { anyIdSchema } from '../price-schema.ts'
import { searchBodySchema } from '../search/search-schema.ts'
import { describeRefusal, isDescribed, type ReadPrices } from '../search/refusal/describe-refusal.ts'
import { Searcher } from '../search/searcher.ts'
import { ambiguousReply, answerSchema, notFoundReply } from './search-replies.ts'
import { checkSearchAllQuery, SEARCH_SORTS, sendAll, type SearchAllQuery, type SearchAllOptions } from './search-all.ts'
import { SEARCH_PATH } from '../search/paths.ts'
import {
  consistencyParameters,
  consistencyErrors,
  waitForConsistency,
  toReadRequirement,
  type ConsistencyQuery,
} from './read-consistency.ts'
import { JSON_TYPE, LINES_TYPE } from './media-types.ts'

/** The path of every search: the index to use. */
export const searchParams = {
  type: 'object',
  required: ['index'],
  properties: {
    index: {
      type: 'string',
      description: '`bitmap` (the default), `map`, or the name of another index.',
      examples: ['bitmap'],
    },
  },
} as const

/** Errors of a body with searches. */
export const searchBodyErrors = [
  commonErrors.VALIDATION_FAILED,
  commonErrors.BAD_JSON,
  commonErrors.UNSUPPORTED_MEDIA_TYPE,
  commonErrors.BODY_TOO_LARGE,
]

const searchQuerystring = {
  type: 'object',
  additionalProperties: false,
  properties: {
    all: {
      type: 'boolean',
      default: false,
      description:
        'True: the reply has every price that matches, one per line, in the order of their ids or values. Without a match it is empty. Every condition is optional.',
    },
    limit: { type: 'integer', minimum: 1, description: 'Maximum number of prices, with `all`.' },
    sort: {
      type: 'string',
      enum: SEARCH_SORTS,
      description: 'Order by value instead of by id, with `all`. Equal values are in the order of ids.',
    },
    after: {
      ...anyIdSchema,
      description: 'Only prices with a higher id than this one, with `all`. With `sort`, only prices after this one.',
    },
    afterValue: {
      type: 'string',
      maxLength: MAX_TEXT_LENGTH,
      description: 'The value of the price `after`, with `sort`.',
    },
    ...consistencyParameters,
  },
} as const

interface SearchOptions extends SearchAllOptions {
  readonly replica: Replica | undefined
  /** The names of indexes that a path may have. */
  readonly names: readonly string[]
  readonly bodyLimit: number
  readonly readPrices: ReadPrices
}

/** A search with parameters in its query. */
interface SearchRouteQuery extends SearchAllQuery, ConsistencyQuery {
  readonly all: boolean
}

/** Creates the route for one search, the most frequently called route of the service. */
export function createSearchRoute({ views, names, replica, bodyLimit, budget, timeout, readPrices }: SearchOptions) {
  const searcher = new Searcher()
  const nameByTarget = new Map(names.map((name) => [SEARCH_PATH.replace(':index', name), name]))

  function find(body: Buffer, name: string): BufferedReply | Promise<BufferedReply> {
    // The headers are computed before the search, so the result is at least as new as they state.
    const headers = replica ? toStalenessHeaders(replica) : []
    const view = views.getCurrent()
    const index = views.findIndex(view, name)
    const toReply = (text: string): BufferedReply => ({ status: 200, headers, type: JSON_TYPE, body: text })
    try {
      return toReply(searcher.answer(body, view, index))
    } catch (error) {
      if (!isDescribed(error)) throw error
      return describeRefusal(error, body, { view, index, readPrices }).then(toReply)
    }
  }

  return defineHotRoute<string | SearchRouteQuery>({
    method: 'POST',
    url: SEARCH_PATH,
    access: 'read',
    validatorCompiler: skipBodyValidation,
    body: { limit: bodyLimit, tooLarge: commonErrors.BODY_TOO_LARGE, type: JSON_TYPE },
    schema: {
      tags: ['search'],
      operationId: 'search',
      summary: 'Find the price that matches',
      description:
        'Operators are `equals` (the default), `not`, `in`, `notIn` and `between` (of integers, dates ' +
        'and texts that are numbers with one unit such as `10 Mbps`). A price without the ' +
        'characteristic matches none of them. If several prices match, the result is the default price with the most characteristics, then with the latest `from`, then the one that was added first. The ' +
        'examples find the price of the example of `putPrice`.',
      params: searchParams,
      querystring: searchQuerystring,
      body: searchBodySchema,
      response: {
        200: {
          description: 'The price, or all prices that match.',
          content: { [JSON_TYPE]: { schema: answerSchema }, [LINES_TYPE]: { schema: { type: 'string' } } },
        },
        ...buildReadReplies(...searchBodyErrors, errors.VALUE_TYPE, ...consistencyErrors),
        404: notFoundReply,
        409: ambiguousReply,
      },
    },
    match: (target) => nameByTarget.get(target),
    read({ params: parameters, query }) {
      const { index } = parameters as { index: string }
      const { all = false, limit, after, ...rest } = query as Partial<SearchRouteQuery>
      checkSearchAllQuery({ limit, after, ...rest }, all)
      return { index, all, limit, after, ...rest }
    },
    serve(parameters, request, reply) {
      if (typeof parameters === 'string' || !parameters.all) return undefined
      const send = () => sendAll(parameters, request, reply, { views, budget, timeout })
      return waitForConsistency(replica, parameters, reply).then(send)
    },
    answer(parameters, { body }) {
      if (typeof parameters === 'string') return find(body, parameters)
      const { index } = parameters
      return replica
        ? replica.waitForConsistency(toReadRequirement(parameters)).then(() => find(body, index))
        : find(body, index)
    },
  })
}
