import type { Replica } from '@influencer-stats/log/replica'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { errors, unknownNameErrors } from '../errors.ts'
import { exampleSearch } from '../sample/examples.ts'
import { FACET_NAMES, MAX_CHARACTERISTICS, computeFacets, type FacetRequest } from '../search/facets/compute-facets.ts'
import { FACET_SORTS } from '../search/facets/facet-page.ts'
import { nameSchema, valueSchema } from '../price-schema.ts'
import type { CatalogViews } from '../search/catalog-view.ts'
import { conditionParameters, readConditions } from './condition-parameters.ts'
import { consistencyParameters, consistencyErrors, waitForConsistency } from './read-consistency.ts'

const MAX_VALUES = 200
const DEFAULT_VALUES = 100

const createPageSchema = <const T>(items: T) =>
  ({
    type: 'object',
    required: ['values'],
    additionalProperties: false,
    properties: {
      values: { type: 'array', items },
      next: { type: 'string', description: 'Cursor for `after` of the next page; absent on the last page.' },
    },
  }) as const
const valueCountSchema = {
  type: 'object',
  required: ['value', 'count'],
  additionalProperties: false,
  properties: {
    value: valueSchema,
    count: {
      type: 'integer',
      description: 'Number of prices that match if this value replaces the chosen value of its list.',
    },
  },
} as const
const valuesSchema = createPageSchema(valueCountSchema)

const RANGE_DESCRIPTION = 'value that can still be chosen, of integers, dates and numbers with a unit.'

const charSchema = {
  ...valuesSchema,
  required: ['char', 'type', 'values'],
  properties: {
    char: nameSchema,
    type: { type: 'string', enum: ['string', 'integer', 'date', 'boolean'] },
    unit: { type: 'string', description: 'Unit of all values, if all are numbers with this unit such as `10 Mbps`.' },
    min: { ...valueSchema, description: `Smallest ${RANGE_DESCRIPTION}` },
    max: { ...valueSchema, description: `Largest ${RANGE_DESCRIPTION}` },
    ...valuesSchema.properties,
  },
} as const

const facetsSchema = {
  type: 'object',
  title: 'Facets',
  required: ['count'],
  additionalProperties: false,
  properties: {
    count: { type: 'integer', description: 'Number of prices that match all conditions.' },
    offerings: valuesSchema,
    groups: valuesSchema,
    specs: valuesSchema,
    range: {
      type: 'array',
      description: 'Smallest and largest value by currency of the prices that match all conditions, with `range`.',
      items: {
        type: 'object',
        required: ['currency', 'min', 'max', 'count'],
        additionalProperties: false,
        properties: {
          currency: conditionParameters.currency,
          min: { type: 'number' },
          max: { type: 'number' },
          count: { type: 'integer' },
        },
      },
    },
    characteristics: { ...createPageSchema(charSchema), description: `Maximum of ${MAX_CHARACTERISTICS}.` },
  },
} as const

/** Adds the route that returns the values that can still be chosen, with counts. */
export function addFacetRoutes(app: App, views: CatalogViews, replica: Replica | undefined): void {
  app.get(
    '/facets',
    {
      schema: {
        tags: ['search'],
        operationId: 'getFacets',
        summary: 'List the values that can still be chosen, with counts',
        description:
          'Offerings, groups, specs, characteristics and values of the prices that match the conditions. The count of a ' +
          'value ignores the condition on its own list, so the reply includes the alternatives to the chosen value.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            ...conditionParameters,
            charValues: { ...conditionParameters.charValues, examples: [JSON.stringify(exampleSearch.charValues)] },
            range: {
              type: 'boolean',
              default: false,
              description: 'True: the reply has the range of the values of the prices that match, by currency.',
            },
            facet: { type: 'string', enum: FACET_NAMES, description: 'Only this list.' },
            char: { ...nameSchema, description: 'Only the values of this characteristic.' },
            q: {
              ...nameSchema,
              description: 'A part of a name or value, in any case and Unicode form. Others are omitted.',
            },
            sort: {
              type: 'string',
              enum: FACET_SORTS,
              default: 'name',
              description:
                'Order of values: by name (numbers, with or without a unit, by size), or the highest count first.',
            },
            limit: {
              type: 'integer',
              minimum: 1,
              maximum: MAX_VALUES,
              default: DEFAULT_VALUES,
              description: 'Maximum number of values per list.',
            },
            after: {
              type: 'string',
              description: 'Cursor: `next` of the previous page with the same `sort`. It requires `facet` or `char`.',
            },
            index: { type: 'string', default: 'bitmap', description: 'Index that counts the prices.' },
            ...consistencyParameters,
          },
        },
        response: {
          200: facetsSchema,
          ...buildReadReplies(
            commonErrors.VALIDATION_FAILED,
            errors.INCOMPATIBLE_PARAMETERS,
            errors.INDEX_NOT_LOADED,
            ...unknownNameErrors,
            errors.VALUE_TYPE,
            ...consistencyErrors,
          ),
        },
      },
    },
    async ({ query }, reply): Promise<any> => {
      const { index = 'bitmap', sequence, linearizable, ...parameters } = query
      await waitForConsistency(replica, { sequence, linearizable }, reply)
      const view = views.getCurrent()
      const finder = views.findIndex(view, index)
      view.hold()
      try {
        const facets = await computeFacets(readConditions(parameters) as FacetRequest, view, finder)
        // Only JSON.stringify writes all digits of a range.
        return reply.type('application/json').send(JSON.stringify(facets) as never)
      } finally {
        await view.release()
      }
    },
  )
}
