import { errors as house } from '@influencer-stats/runtime/errors'
import { misfitText, validatorOf, type Misfit } from '@influencer-stats/runtime/validation'
import { MAX_CHOICES, MAX_CONDITIONS, MAX_TEXT } from './core/price.ts'
import type { Condition, SearchRequest } from './core/request.ts'
import { exampleSearch } from './examples.ts'
import { name, valueSchema } from './price-schema.ts'

const condition = (op: object, value: object, required: readonly string[] = ['char', 'value']) => ({
  type: 'object',
  required,
  additionalProperties: false,
  properties: { char: name, op, value },
})
const choices = { type: 'array', items: valueSchema, maxItems: MAX_CHOICES }

const properties = {
  offeringId: name,
  groupId: name,
  priceSpecId: name,
  charValues: {
    type: 'array',
    maxItems: MAX_CONDITIONS,
    items: {
      anyOf: [
        condition({ type: 'string', enum: ['equals', 'not'] }, valueSchema),
        condition({ type: 'string', enum: ['in', 'notIn'] }, choices, ['char', 'op', 'value']),
        condition({ type: 'string', enum: ['between'] }, { ...choices, minItems: 2, maxItems: 2 }, [
          'char',
          'op',
          'value',
        ]),
      ],
    },
  },
  at: { type: 'string', format: 'date', description: 'The day on which the price must be valid.' },
  explain: { type: 'boolean', description: 'Tells how many prices each condition left.' },
} as const
const required = ['offeringId', 'groupId', 'priceSpecId', 'charValues'] as const

export const searchBody = {
  type: 'object',
  title: 'Search',
  required,
  additionalProperties: false,
  properties,
  examples: [exampleSearch],
} as const

const bulkItem = {
  ...searchBody,
  required: ['id', ...required],
  properties: { id: { type: 'string', maxLength: MAX_TEXT }, ...properties },
}

type Validator<T> = ((value: unknown) => value is T) & { errors?: Misfit[] | null }

export const fitsSearch = validatorOf(searchBody, 'body') as unknown as Validator<SearchRequest>
export const fitsBulk = validatorOf(bulkItem, 'body') as unknown as Validator<SearchRequest & { id: string }>

const fitsCharValues = validatorOf(properties.charValues, 'body') as unknown as Validator<Condition[]>

/** Reads conditions from a parameter. @throws Problem */
export function readCharValues(text: string): Condition[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw house.VALIDATION_FAILED('querystring/charValues is not valid JSON')
  }
  if (!fitsCharValues(value)) throw house.VALIDATION_FAILED(`querystring/charValues: ${misfitOf(fitsCharValues)}`)
  return value
}

/** What was wrong with the last value that did not fit. */
export function misfitOf({ errors }: Pick<Validator<never>, 'errors'>): string {
  const [first] = errors ?? []
  return first ? misfitText(first) : 'does not fit'
}
