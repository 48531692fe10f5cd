import { commonErrors } from '@influencer-stats/runtime/errors'
import { describeFormat, describePattern, describeValidationError } from '@influencer-stats/runtime/validation-errors'
import { NAME_PATTERN, createValidator, defineFormat } from '@influencer-stats/runtime/validation'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { MAX_DIGITS } from './core/values/amount.ts'
import { isMoment, MOMENT_DESCRIPTION, SEARCH_MOMENT_DESCRIPTION } from './core/values/moment.ts'
import {
  listValues,
  MAX_CONDITIONS,
  MAX_LIST_VALUES,
  MAX_TEXT_LENGTH,
  type Price,
  type PricePatch,
} from './core/price.ts'
import { formatValue, isRange, overlaps } from './core/values/term-value.ts'
import { MAX_ID_BYTES } from './core/price-id.ts'
import { UUID_PATTERN } from './core/values/uuid.ts'
import { examplePrice } from './sample/examples.ts'

export const nameSchema = { type: 'string', minLength: 1, maxLength: MAX_TEXT_LENGTH } as const
describeFormat(defineFormat('moment', isMoment), MOMENT_DESCRIPTION)
describeFormat(
  defineFormat('search-moment', (text) => text === 'now' || isMoment(text)),
  SEARCH_MOMENT_DESCRIPTION,
)
const moment = { type: 'string', format: 'moment' } as const
/** The schema of the moment of a search. */
export const atSchema = {
  type: 'string',
  format: 'search-moment',
  description: `Moment at which the price must be valid: ${SEARCH_MOMENT_DESCRIPTION}. A date is its first minute in UTC.`,
} as const
const MAX_INTEGER = Number.MAX_SAFE_INTEGER

const integer = { type: 'integer', minimum: -MAX_INTEGER, maximum: MAX_INTEGER } as const

const range = {
  type: 'object',
  minProperties: 1,
  additionalProperties: false,
  properties: { from: integer, to: integer },
  examples: [{ from: 10, to: 99 }],
  description: 'Range of integers, both ends included.',
} as const

/** The ends of a `between`: of quantities, any number. */
export const endSchema = {
  anyOf: [nameSchema, { type: 'number', minimum: -MAX_INTEGER, maximum: MAX_INTEGER }],
} as const
export const valueSchema = { anyOf: [nameSchema, integer, { type: 'boolean' }, range] } as const

const createValueSchema = <const Name extends object>(text: Name) => {
  const value = [text, integer, { type: 'boolean' }, range] as const
  const list = {
    type: 'array',
    minItems: 1,
    maxItems: MAX_LIST_VALUES,
    uniqueItems: true,
    items: { anyOf: value },
  } as const
  return { anyOf: [...value, list] } as const
}

const createNameFields = <const Name extends object, const Value extends object>(text: Name, value: Value) =>
  ({
    offeringId: text,
    groupId: text,
    priceSpecId: text,
    charValues: {
      type: 'array',
      maxItems: MAX_CONDITIONS,
      items: {
        type: 'object',
        required: ['char', 'value'],
        additionalProperties: false,
        properties: { char: text, value },
      },
    },
  }) as const

/** Names that older versions accepted: any text. */
const anyNames = createNameFields(nameSchema, createValueSchema(nameSchema))
const namesV1 = createNameFields(nameSchema, { anyOf: [nameSchema, integer] })
const newName = { ...nameSchema, pattern: NAME_PATTERN } as const
const newNames = createNameFields(newName, createValueSchema(newName))

const VALUE_DESCRIPTION = `An exact decimal of up to ${MAX_DIGITS} digits, in a reply as a number with the same digits.`
const amountSchema = { type: ['number', 'string'], description: VALUE_DESCRIPTION } as const

export const currencySchema = {
  type: 'string',
  pattern: describePattern('^[A-Z]{3}$', 'a code of 3 capital letters such as USD'),
} as const

/** The fields of a price except its id and its names. */
const otherFields = {
  value: amountSchema,
  currency: { ...currencySchema, description: 'Currency; by default USD.' },
  default: { type: 'boolean', description: 'True if a search prefers this price when several prices match.' },
  from: { ...moment, description: 'First day or minute at which the price is valid. Days are those of UTC.' },
  to: {
    ...moment,
    description: 'Last day on which the price is valid, or the first minute at which it is no longer valid.',
  },
} as const
const date = { type: 'string', format: 'date' } as const
/** The fields of older versions. */
const otherFieldsV1 = {
  ...otherFields,
  id: { type: 'string', pattern: UUID_PATTERN },
  // Larger numbers parse as infinities, which JSON cannot represent.
  value: { type: 'number', minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE },
  from: date,
  to: date,
}

const { id: exampleId, ...exampleBody } = examplePrice
/** The schema of an id without examples. */
export const anyIdSchema = {
  type: 'string',
  minLength: 1,
  maxLength: MAX_ID_BYTES,
  // `/prices/import` is the path of imports.
  pattern: describePattern(
    '^(?!import$)[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$',
    'a text without control characters, other than "import"',
  ),
  description: `Any text of up to ${MAX_ID_BYTES} bytes; a UUID takes the least memory.`,
} as const
export const idSchema = { ...anyIdSchema, examples: [exampleId] } as const
const required = ['offeringId', 'groupId', 'priceSpecId', 'charValues', 'value'] as const

export const priceBodySchema = {
  type: 'object',
  title: 'PriceBody',
  examples: [exampleBody],
  required,
  additionalProperties: false,
  properties: { id: idSchema, ...newNames, ...otherFields },
} as const

export const priceReplySchema = {
  type: 'object',
  title: 'Price',
  examples: [{ ...examplePrice, currency: 'USD' }],
  required: ['id', ...required, 'currency'],
  additionalProperties: false,
  properties: {
    id: idSchema,
    ...anyNames,
    ...otherFields,
    value: { type: 'number', description: VALUE_DESCRIPTION },
    // The serializer does not know the format of moments.
    from: { type: 'string' },
    to: { type: 'string' },
  },
} as const

/** Returns the reason why an id with a valid schema is too long, which a schema cannot state in bytes. */
const findIdProblem = (id: string | undefined, where: string): string | undefined =>
  id === undefined || Buffer.byteLength(id) <= MAX_ID_BYTES
    ? undefined
    : `${where}/id must be at most ${MAX_ID_BYTES} bytes of UTF-8; received ${formatReceived(id)}`

/** @throws Problem `VALIDATION_FAILED` if an id is too long */
export function checkId(id: string | undefined, where: string): void {
  const problem = findIdProblem(id, where)
  if (problem) throw commonErrors.VALIDATION_FAILED(problem)
}

/** Returns the reason why a range of a price is not valid. @param where start of the path */
function findRangeProblem({ charValues }: Pick<PricePatch, 'charValues'>, where: string): string | undefined {
  for (const [i, { value }] of (charValues ?? []).entries()) {
    if (typeof value !== 'object') continue
    const reversed = listValues(value).find((one) => isRange(one) && !overlaps(one, -Infinity, Infinity))
    if (reversed !== undefined)
      return `${where}/charValues/${i}/value must have a \`from\` of at most its \`to\`; received ${formatValue(reversed)}`
  }
  return undefined
}

/** @throws Problem `VALIDATION_FAILED` */
function checkRanges(price: Pick<PricePatch, 'charValues'>, where: string): void {
  const problem = findRangeProblem(price, where)
  if (problem !== undefined) throw commonErrors.VALIDATION_FAILED(problem)
}

const validateBody = createValidator(priceBodySchema, 'body')

/**
 * Validates the body of a put.
 * @throws Problem `VALIDATION_FAILED`
 */
export function readPrice(body: unknown): Omit<Price, 'id'> & Partial<Pick<Price, 'id'>> {
  if (!validateBody(body)) throw commonErrors.VALIDATION_FAILED(describeValidationError(validateBody.errors!, 'body'))
  const price = body as Price
  checkId(price.id, 'body')
  checkRanges(price, 'body')
  return price
}

const nullable = <const S extends { readonly type: string }>({ type, ...schema }: S) => ({
  ...schema,
  type: [type, 'null'] as const,
})

export const patchSchema = {
  type: 'object',
  title: 'PricePatch',
  examples: [{ value: '12.50', to: null }],
  additionalProperties: false,
  properties: {
    ...priceBodySchema.properties,
    currency: nullable(otherFields.currency),
    default: nullable(otherFields.default),
    from: nullable(otherFields.from),
    to: nullable(otherFields.to),
  },
} as const

const validatePatch = createValidator(patchSchema, 'body')

/**
 * Validates a patch. A valid price with a valid patch is valid.
 * @throws Problem `VALIDATION_FAILED`
 */
export function readPatch(body: unknown): PricePatch & { readonly id?: string } {
  if (!validatePatch(body)) throw commonErrors.VALIDATION_FAILED(describeValidationError(validatePatch.errors!, 'body'))
  checkRanges(body as PricePatch, 'body')
  return body as never
}

const line = { ...priceBodySchema, required: ['id', ...required] }

function createLineValidator(schema: object): (value: unknown) => string | undefined {
  const validate = createValidator(schema, 'body')
  return (value) =>
    validate(value)
      ? (findIdProblem((value as Price).id, 'price') ?? findRangeProblem(value as Price, 'price'))
      : describeValidationError(validate.errors!, 'price')
}

/** Returns the reason why the schema of a price rejects a value; undefined if it does not. */
export const validatePriceLine = createLineValidator(line)

/** `validatePriceLine` for a line of an older version in the log. Its names may be any text. */
export const validateLoggedPriceLine = createLineValidator({
  ...line,
  properties: { ...line.properties, ...namesV1, ...otherFieldsV1 },
})
