import type { Replica } from '@influencer-stats/log/replica'
import type { Bus } from '@influencer-stats/runtime/channel'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { formatStart, getCurrentMoment } from '../core/values/moment.ts'
import { checkMatchCount, errors, unknownNameErrors } from '../errors.ts'
import type { PricesMainMessage, PricesThreadMessage } from '../messages.ts'
import type { CatalogViews } from '../search/catalog-view.ts'
import { countPrices } from '../search/find-all.ts'
import type { SearchConditions } from '../search/search-request.ts'
import { conditionParameters, readConditions } from './condition-parameters.ts'
import { logErrors, setStalenessHeaders } from './read-consistency.ts'

const resultSchema = {
  type: 'object',
  title: 'RemovedPrices',
  required: ['matched', 'deleted'],
  additionalProperties: false,
  properties: {
    matched: { type: 'integer', description: 'Number of prices that match all conditions.' },
    deleted: { type: 'integer', description: 'Number of deleted prices: 0 in a dry run, otherwise all that match.' },
  },
} as const

/** Adds the route that deletes all prices that match conditions. The main thread makes the change. */
export function addRemovalRoute(
  app: App,
  bus: Bus<PricesMainMessage, PricesThreadMessage>,
  views: CatalogViews,
  replica: Replica | undefined,
): void {
  app.delete(
    '/prices',
    {
      schema: {
        tags: ['prices'],
        operationId: 'deletePrices',
        summary: 'Delete all prices that match conditions',
        description:
          'A dry run, which only counts the prices, unless `dryRun=false` is given. Then all prices that match are ' +
          'deleted in one step, or none.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            ...conditionParameters,
            currency: { ...conditionParameters.currency, examples: ['EUR'] },
            dryRun: { type: 'boolean', default: true, description: 'False: delete the prices that match.' },
            expected: {
              type: 'integer',
              minimum: 0,
              description: 'The number of prices that must match. Otherwise the request is refused.',
            },
          },
        },
        response: {
          200: resultSchema,
          ...buildChangeReplies(
            ...storeErrors,
            ...logErrors,
            commonErrors.VALIDATION_FAILED,
            errors.CONDITION_MISSING,
            errors.MATCH_COUNT,
            ...unknownNameErrors,
            errors.VALUE_TYPE,
          ),
        },
      },
    },
    async (request, reply) => {
      const { dryRun = true, expected, ...query } = request.query
      const conditions = resolveNow(readConditions(query))
      if (!hasCondition(conditions)) throw errors.CONDITION_MISSING('the query must have a condition; received none')
      if (dryRun) {
        setStalenessHeaders(replica, reply)
        const matched = await countPrices(conditions, views.getCurrent())
        checkMatchCount(matched, expected)
        return { matched, deleted: 0 }
      }
      const result = await bus.call('removeWhere', { conditions, ...(expected !== undefined && { expected }) })
      setStalenessHeaders(replica, reply)
      if (result.deleted > 0) request.audit = { change: 'delete', what: `${result.deleted} prices` }
      return result
    },
  )
}

/** Returns conditions that have the same meaning at any time. */
const resolveNow = (conditions: SearchConditions): SearchConditions =>
  conditions.at === 'now' ? { ...conditions, at: formatStart(getCurrentMoment()) } : conditions

const hasCondition = ({ charValues, ...others }: SearchConditions) =>
  charValues.length > 0 || Object.keys(others).length > 0
