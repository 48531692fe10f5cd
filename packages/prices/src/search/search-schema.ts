import { commonErrors } from '@influencer-stats/runtime/errors'
import { describeJsonError } from '@influencer-stats/runtime/received-value'
import { describeValidationError, type ValidationError } from '@influencer-stats/runtime/validation-errors'
import { createValidator } from '@influencer-stats/runtime/validation'
import { MAX_CHOICES, MAX_CONDITIONS, MAX_TEXT_LENGTH } from '../core/price.ts'
import type { SearchCondition, SearchRequest } from './search-request.ts'
import { exampleSearch } from '../sample/examples.ts'
import { atSchema, currencySchema, endSchema, nameSchema, valueSchema } from '../price-schema.ts'

const createConditionSchema = (op: object, value: object, required: readonly string[] = ['char', 'value']) => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties: { char: nameSchema, op, value },
})
const choicesSchema = { type: 'array', items: valueSchema, maxItems: MAX_CHOICES }

const properties = {
  offeringId: nameSchema,
  groupId: nameSchema,
  priceSpecId: nameSchema,
  charValues: {
    type: 'array',
    maxItems: MAX_CONDITIONS,
    items: {
      anyOf: [
        createConditionSchema({ type: 'string', enum: ['equals', 'not'] }, valueSchema),
        createConditionSchema({ type: 'string', enum: ['in', 'notIn'] }, choicesSchema, ['char', 'op', 'value']),
        createConditionSchema(
          { type: 'string', enum: ['between'] },
          { type: 'array', items: endSchema, minItems: 2, maxItems: 2 },
          ['char', 'op', 'value'],
        ),
      ],
    },
  },
  at: atSchema,
  currency: currencySchema,
  minValue: { type: ['number', 'string'], maxLength: MAX_TEXT_LENGTH, description: 'Smallest value, included.' },
  maxValue: { type: ['number', 'string'], maxLength: MAX_TEXT_LENGTH, description: 'Largest value, included.' },
  explain: {
    type: 'boolean',
    description: 'True: the reply has the number of prices that remain after each condition.',
  },
  id: {
    type: ['string', 'number'],
    maxLength: MAX_TEXT_LENGTH,
    description: 'An id of the client, which a bulk answer repeats. A single search ignores it.',
  },
} as const
const required = ['offeringId', 'groupId', 'priceSpecId', 'charValues'] as const

export const searchBodySchema = {
  type: 'object',
  title: 'Search',
  required,
  additionalProperties: false,
  properties,
  examples: [exampleSearch],
} as const

const searchAllSchema = { ...searchBodySchema, required: [] }

const bulkItemSchema = { ...searchBodySchema, required: ['id', ...required] }

type SchemaValidator<T> = ((value: unknown) => value is T) & { errors?: readonly ValidationError[] | null }

export const isSearchRequest = createValidator(searchBodySchema, 'body') as unknown as SchemaValidator<SearchRequest>
export const isSearchAllRequest = createValidator(searchAllSchema, 'body') as unknown as SchemaValidator<
  Partial<SearchRequest>
>
export const isBulkItem = createValidator(bulkItemSchema, 'body') as unknown as SchemaValidator<
  SearchRequest & { id: string | number }
>

const isCharValues = createValidator(properties.charValues, 'body') as unknown as SchemaValidator<SearchCondition[]>

const CHAR_VALUES_PATH = 'querystring/charValues'

/**
 * Parses conditions from a parameter.
 * @throws Problem
 */
export function readCharValues(text: string): SearchCondition[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw commonErrors.VALIDATION_FAILED(describeJsonError(text, CHAR_VALUES_PATH))
  }
  if (!isCharValues(value)) throw commonErrors.VALIDATION_FAILED(getValidationError(isCharValues, CHAR_VALUES_PATH))
  return value
}

/** Returns the validation error of the last rejected value. @param where start of the path, such as `body` */
export const getValidationError = ({ errors }: Pick<SchemaValidator<never>, 'errors'>, where: string): string =>
  describeValidationError(errors ?? [], where)
