import { validatorOf } from '@influencer-stats/runtime/validation'
import { MAX_CONDITIONS, MAX_TEXT, type Price } from './core/price.ts'
import { UUID } from './core/uuid.ts'

const name = { type: 'string', minLength: 1, maxLength: MAX_TEXT } as const
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

export const idSchema = { type: 'string', pattern: UUID } as const
const required = ['offeringId', 'groupId', 'priceSpecId', 'charValues', 'value'] as const

export const priceBody = {
  type: 'object',
  required,
  additionalProperties: false,
  properties: { id: idSchema, ...priceFields },
} as const

export const priceReply = {
  type: 'object',
  required: ['id', ...required, 'currency'],
  additionalProperties: false,
  properties: { id: idSchema, ...priceFields },
} as const

const validate = validatorOf({ ...priceBody, required: ['id', ...required] }, 'body')

/** Whether something is a price, as far as its shape goes. */
export const fitsPrice = (value: unknown): value is Price => validate(value) as boolean

/** What was wrong with the last one that did not fit. */
export function misfit(): string {
  const [first] = validate.errors ?? []
  return `${first?.instancePath ?? ''} ${first?.message ?? 'does not fit'}`.trim()
}
