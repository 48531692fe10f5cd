import type { Replica } from '@influencer-stats/log/replica'
import { commonErrors } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { errors } from '../errors.ts'
import { exampleSearch } from '../examples.ts'
import { FACET_NAMES, MAX_CHARACTERISTICS, computeFacets, type FacetRequest } from '../compute-facets.ts'
import { nameSchema, valueSchema } from '../price-schema.ts'
import { readCharValues, searchBodySchema } from '../search-schema.ts'
import type { CatalogViews } from '../catalog-view.ts'
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
      next: { type: 'string', description: 'What to give as `after` for what comes next, if there is more.' },
    },
  }) as const
const valueCountSchema = {
  type: 'object',
  required: ['value', 'count'],
  additionalProperties: false,
  properties: {
    value: valueSchema,
    count: { type: 'integer', description: 'Prices that fit if it is chosen in place of what is chosen of its list.' },
  },
} as const
const valuesSchema = createPageSchema(valueCountSchema)

const charSchema = {
  ...valuesSchema,
  required: ['char', 'type', 'values'],
  properties: {
    char: nameSchema,
    type: { type: 'string', enum: ['string', 'integer', 'date'] },
    ...valuesSchema.properties,
  },
} as const

const facetsSchema = {
  type: 'object',
  title: 'Facets',
  required: ['count'],
  additionalProperties: false,
  properties: {
    count: { type: 'integer', description: 'Prices that fit all conditions.' },
    offerings: valuesSchema,
    groups: valuesSchema,
    specs: valuesSchema,
    characteristics: { ...createPageSchema(charSchema), description: `At most ${MAX_CHARACTERISTICS}.` },
  },
} as const

const { offeringId, groupId, priceSpecId, at } = searchBodySchema.properties

/** Adds the route that returns the values that can still be chosen, with counts. */
export function addFacetRoutes(app: App, views: CatalogViews, replica: Replica | undefined): void {
  app.get(
    '/facets',
    {
      schema: {
        tags: ['search'],
        operationId: 'getFacets',
        summary: 'What can still be chosen, with counts',
        description:
          'The offerings, groups, specs, characteristics and values that prices have which fit the conditions. A value is ' +
          'counted under the conditions on all other lists, so that those beside the chosen one are told, too.',
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: {
            offeringId,
            groupId,
            priceSpecId,
            charValues: {
              type: 'string',
              description: 'The conditions of a search as JSON, `[{"char","op"?,"value"}]`.',
              examples: [JSON.stringify(exampleSearch.charValues)],
            },
            at,
            facet: { type: 'string', enum: FACET_NAMES, description: 'One list alone.' },
            char: { ...nameSchema, description: 'The values of this characteristic alone.' },
            limit: {
              type: 'integer',
              minimum: 1,
              maximum: MAX_VALUES,
              default: DEFAULT_VALUES,
              description: 'At most so many values of each list.',
            },
            after: { type: 'string', description: 'Where the page before ended; with `facet` or `char`.' },
            index: { type: 'string', default: 'bitmap', description: 'The index that counts.' },
            ...consistencyParameters,
          },
        },
        response: {
          200: facetsSchema,
          ...buildReadReplies(
            commonErrors.VALIDATION_FAILED,
            errors.INCOMPATIBLE_PARAMETERS,
            errors.INDEX_NOT_LOADED,
            errors.OFFERING_NOT_FOUND,
            errors.GROUP_NOT_FOUND,
            errors.SPEC_NOT_FOUND,
            errors.CHARACTERISTIC_NOT_FOUND,
            errors.VALUE_NOT_FOUND,
            errors.VALUE_TYPE,
            ...consistencyErrors,
          ),
        },
      },
    },
    async ({ query }, reply): Promise<any> => {
      const { index = 'bitmap', charValues, sequence, linearizable, ...conditions } = query
      await waitForConsistency(replica, { sequence, linearizable }, reply)
      const view = views.getCurrent()
      const finder = views.findIndex(view, index)
      view.hold()
      try {
        const request = { ...conditions, charValues: charValues === undefined ? [] : readCharValues(charValues) }
        return await computeFacets(request as FacetRequest, view, finder)
      } finally {
        await view.release()
      }
    },
  )
}
