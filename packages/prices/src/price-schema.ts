import { errors as house } from '@influencer-stats/runtime/errors'
import { misfitText, validatorOf, type Misfit } from '@influencer-stats/runtime/validation'
import { MAX_CONDITIONS, MAX_TEXT, type Price } from './core/price.ts'
import { UUID } from './core/uuid.ts'
import { examplePrice } from './examples.ts'

export const name = { type: 'string', minLength: 1, maxLength: MAX_TEXT } as const
const date = { type: 'string', format: 'date' } as const
const INTEGER = Number.MAX_SAFE_INTEGER

export const valueSchema = {
  anyOf: [name, { type: 'integer', minimum: -INTEGER, maximum: INTEGER }],
} as const

/** A price without its id. */
export const priceFields = {
  offeringId: name,
  groupId: name,
  priceSpecId: name,
  charValues: {
    type: 'array',
    maxItems: MAX_CONDITIONS,
    items: {
      type: 'object',
      required: ['char', 'value'],
      additionalProperties: false,
      properties: { char: name, value: valueSchema },
    },
  },
  // Beyond these JSON.parse gives infinities, which JSON cannot say.
  value: { type: 'number', minimum: -Number.MAX_VALUE, maximum: Number.MAX_VALUE },
  currency: { type: 'string', pattern: '^[A-Z]{3}$', description: 'USD if absent.' },
  default: { type: 'boolean', description: 'Chosen where several prices fit.' },
  from: { ...date, description: 'The first day it is valid on.' },
  to: { ...date, description: 'The last day it is valid on.' },
} as const

const { id: exampleId, ...exampleBody } = examplePrice
/** Any id, of which none is an example. */
export const anyId = { type: 'string', pattern: UUID } as const
export const idSchema = { ...anyId, examples: [exampleId] } as const
const required = ['offeringId', 'groupId', 'priceSpecId', 'charValues', 'value'] as const

export const priceBody = {
  type: 'object',
  title: 'PriceToKeep',
  examples: [exampleBody],
  required,
  additionalProperties: false,
  properties: { id: idSchema, ...priceFields },
} as const

export const priceReply = {
  type: 'object',
  title: 'Price',
  examples: [{ ...examplePrice, currency: 'USD' }],
  required: ['id', ...required, 'currency'],
  additionalProperties: false,
  properties: { id: idSchema, ...priceFields },
} as const

const validateBody = validatorOf(priceBody, 'body')

/** The body of a price that is put. @throws Problem `VALIDATION_FAILED` */
export function readPrice(body: unknown): Omit<Price, 'id'> & Partial<Pick<Price, 'id'>> {
  if (!validateBody(body)) throw house.VALIDATION_FAILED(misfitText(validateBody.errors![0] as Misfit, 'body'))
  return body as never
}

const validate = validatorOf({ ...priceBody, required: ['id', ...required] }, 'body')

/** Whether something is a price, as far as its shape goes. */
export const fitsPrice = (value: unknown): value is Price => validate(value) as boolean

/** What was wrong with the last one that did not fit. */
export function misfit(): string {
  const [first] = validate.errors ?? []
  return `${first?.instancePath ?? ''} ${first?.message ?? 'does not fit'}`.trim()
}
