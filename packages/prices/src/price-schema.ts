import { errors as house } from '@influencer-stats/runtime/errors'
import { misfitText, NAME_TEXT, validatorOf, type Misfit } from '@influencer-stats/runtime/validation'
import { MAX_CONDITIONS, MAX_TEXT, type Price } from './core/price.ts'
import { UUID } from './core/uuid.ts'
import { examplePrice } from './examples.ts'

export const name = { type: 'string', minLength: 1, maxLength: MAX_TEXT } as const
const date = { type: 'string', format: 'date' } as const
const INTEGER = Number.MAX_SAFE_INTEGER

const integer = { type: 'integer', minimum: -INTEGER, maximum: INTEGER } as const

export const valueSchema = { anyOf: [name, integer] } as const

const namesOf = <const Name extends object>(text: Name) =>
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
        properties: { char: text, value: { anyOf: [text, integer] } },
      },
    },
  }) as const

/** Names that older versions accepted: any text. */
const anyNames = namesOf(name)
const newNames = namesOf({ ...name, pattern: NAME_TEXT })

/** A price without its id and its names. */
const otherFields = {
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
  properties: { id: idSchema, ...newNames, ...otherFields },
} as const

export const priceReply = {
  type: 'object',
  title: 'Price',
  examples: [{ ...examplePrice, currency: 'USD' }],
  required: ['id', ...required, 'currency'],
  additionalProperties: false,
  properties: { id: idSchema, ...anyNames, ...otherFields },
} as const

const validateBody = validatorOf(priceBody, 'body')

/** The body of a price that is put. @throws Problem `VALIDATION_FAILED` */
export function readPrice(body: unknown): Omit<Price, 'id'> & Partial<Pick<Price, 'id'>> {
  if (!validateBody(body)) throw house.VALIDATION_FAILED(misfitText(validateBody.errors![0] as Misfit, 'body'))
  return body as never
}

const line = { ...priceBody, required: ['id', ...required] }

function faultBy(schema: object): (value: unknown) => string | undefined {
  const validate = validatorOf(schema, 'body')
  return (value) => (validate(value) ? undefined : misfitText(validate.errors![0] as Misfit))
}

/** Returns the reason why the schema of a price rejects a value; undefined if it does not. */
export const priceFault = faultBy(line)

/** `priceFault` for a line of the log: nodes of an older version may have accepted any text as a name. */
export const loggedPriceFault = faultBy({ ...line, properties: { ...line.properties, ...anyNames } })
