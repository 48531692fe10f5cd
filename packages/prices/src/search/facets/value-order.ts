import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import {
  type TermValue,
  compareValues,
  formatValue,
  parseInteger,
  type CharType,
} from '../../core/values/term-value.ts'

/** The order of the values of a list of facets, and their text in cursors. */
export interface ValueOrder {
  compare(a: TermValue, b: TermValue): number
  format(value: TermValue): string
  /** @throws Problem `VALIDATION_FAILED` */
  parse(text: string): TermValue
  /** True if the smallest and the largest value are of interest. */
  readonly hasRange: boolean
}

const TEXT_ORDER: ValueOrder = { compare: compareValues, format: String, parse: (text) => text, hasRange: false }
const DATE_ORDER: ValueOrder = { ...TEXT_ORDER, hasRange: true }
const INTEGER_ORDER: ValueOrder = {
  compare: compareValues,
  format: formatValue,
  parse(text) {
    const value = parseInteger(text)
    if (value !== undefined) return value
    throw commonErrors.VALIDATION_FAILED(
      `querystring/after must be an integer such as 12; received ${formatReceived(text)}`,
    )
  },
  hasRange: true,
}

const BOOLEAN_ORDER: ValueOrder = { ...TEXT_ORDER, parse: (text) => text === 'true' }

/** @param type type of the characteristic; undefined for names */
export function getValueOrder(type: CharType | undefined): ValueOrder {
  if (type === 'integer') return INTEGER_ORDER
  if (type === 'boolean') return BOOLEAN_ORDER
  return type === 'date' ? DATE_ORDER : TEXT_ORDER
}
