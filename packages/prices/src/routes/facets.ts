import type { Replica } from '@influencer-stats/log/replica'
import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { readReplies } from '@influencer-stats/runtime/replies'
import { errors } from '../errors.ts'
import { exampleSearch } from '../examples.ts'
import { FACETS, MOST_CHARS, tellFacets, type FacetRequest } from '../facets.ts'
import { name, valueSchema } from '../price-schema.ts'
import { readCharValues, searchBody } from '../search-schema.ts'
import type { Views } from '../view.ts'
import { freshness, freshnessFaults, seen } from './freshness.ts'

const MOST_VALUES = 200
const DEFAULT_VALUES = 100

const page = <const T>(items: T) =>
  ({
    type: 'object',
    required: ['values'],
    additionalProperties: false,
    properties: {
      values: { type: 'array', items },
      next: { type: 'string', description: 'What to give as `after` for what comes next, if there is more.' },
    },
  }) as const
const value = {
  type: 'object',
  required: ['value', 'count'],
  additionalProperties: false,
  properties: {
    value: valueSchema,
    count: { type: 'integer', description: 'Prices that fit if it is chosen in place of what is chosen of its list.' },
  },
} as const
const values = page(value)

const char = {
  ...values,
  required: ['char', 'type', 'values'],
  properties: { char: name, type: { type: 'string', enum: ['string', 'integer', 'date'] }, ...values.properties },
} as const

const facets = {
  type: 'object',
  title: 'Facets',
  required: ['count'],
  additionalProperties: false,
  properties: {
    count: { type: 'integer', description: 'Prices that fit all conditions.' },
    offerings: values,
    groups: values,
    specs: values,
    characteristics: { ...page(char), description: `At most ${MOST_CHARS}.` },
  },
} as const

const { offeringId, groupId, priceSpecId, at } = searchBody.properties

/** What can still be chosen, and how many prices would be left. */
export function facetRoutes(app: App, views: Views, replica: Replica | undefined): void {
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
            facet: { type: 'string', enum: FACETS, description: 'One list alone.' },
            char: { ...name, description: 'The values of this characteristic alone.' },
            limit: {
              type: 'integer',
              minimum: 1,
              maximum: MOST_VALUES,
              default: DEFAULT_VALUES,
              description: 'At most so many values of each list.',
            },
            after: { type: 'string', description: 'Where the page before ended; with `facet` or `char`.' },
            index: { type: 'string', default: 'bitmap', description: 'The index that counts.' },
            ...freshness,
          },
        },
        response: {
          200: facets,
          ...readReplies(
            house.VALIDATION_FAILED,
            errors.QUERY_CLASH,
            errors.INDEX_NOT_LOADED,
            errors.OFFERING_NOT_FOUND,
            errors.GROUP_NOT_FOUND,
            errors.SPEC_NOT_FOUND,
            errors.CHARACTERISTIC_NOT_FOUND,
            errors.VALUE_NOT_FOUND,
            errors.VALUE_TYPE,
            ...freshnessFaults,
          ),
        },
      },
    },
    async ({ query }, reply): Promise<any> => {
      const { index = 'bitmap', charValues, sequence, linearizable, ...asked } = query
      await seen(replica, { sequence, linearizable }, reply)
      const view = views.current()
      const finder = views.indexOf(view, index)
      view.hold()
      try {
        const request = { ...asked, charValues: charValues === undefined ? [] : readCharValues(charValues) }
        return await tellFacets(request as FacetRequest, view, finder)
      } finally {
        await view.release()
      }
    },
  )
}
