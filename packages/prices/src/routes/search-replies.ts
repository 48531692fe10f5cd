import {
  buildProblemReplies,
  problemSchema,
  PROBLEM_TYPE,
  type ProblemReplies,
} from '@influencer-stats/runtime/problems'
import { buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { errors, unknownNameErrors } from '../errors.ts'
import { idSchema, priceReplySchema } from '../price-schema.ts'
import { MAX_CANDIDATES } from '../search/refusal/describe-refusal.ts'

const foundFields = {
  id: idSchema,
  spec: { type: 'string' },
  value: { type: 'number' },
  currency: { type: 'string' },
} as const
const refusalFields = {
  condition: {
    type: 'string',
    description: 'First condition that no price matches together with the conditions before it.',
  },
  candidates: {
    type: 'array',
    maxItems: MAX_CANDIDATES,
    description: 'First prices by id that match all conditions, or all except `condition`.',
    items: priceReplySchema,
  },
  differences: {
    type: 'array',
    description: 'Names of the fields and characteristics in which the candidates differ.',
    items: { type: 'string' },
  },
} as const

/** The reply to a single search. */
export const answerSchema = {
  type: 'object',
  title: 'SearchAnswer',
  properties: {
    ...foundFields,
    error: {
      type: 'object',
      description: 'Reason why no price was found, with `explain`.',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
    },
    explain: {
      type: 'array',
      description: 'Number of prices that remain after each condition, with `explain`.',
      items: {
        type: 'object',
        required: ['condition', 'left'],
        properties: { condition: { type: 'string' }, left: { type: 'integer' } },
      },
    },
    ...refusalFields,
  },
} as const

const notFoundErrors = [errors.INDEX_NOT_LOADED, errors.PRICE_NOT_FOUND, ...unknownNameErrors]

/** Returns a reply whose problem has more members. */
const addFields = (reply: ProblemReplies[number], title: string, fields: object) => ({
  ...reply,
  content: {
    [PROBLEM_TYPE]: { schema: { ...problemSchema, title, properties: { ...problemSchema.properties, ...fields } } },
  },
})

const { condition, candidates, differences } = refusalFields
/** The 409 reply of a single search. */
export const ambiguousReply = addFields(
  buildProblemReplies(errors.PRICES_AMBIGUOUS, errors.INCOMPATIBLE_PARAMETERS)[409]!,
  'AmbiguousPrices',
  { candidates, differences },
)
/** The 404 reply of a single search. */
export const notFoundReply = addFields(buildReadReplies(...notFoundErrors)[404]!, 'PriceNotFound', {
  condition,
  candidates,
})
