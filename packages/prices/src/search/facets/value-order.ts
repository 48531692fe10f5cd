import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import { findUnit, getCharType } from '../../core/terms.ts'
import { compareAmounts } from '../../core/values/amount.ts'
import { parseQuantity } from '../../core/values/quantity.ts'
import { type TermValue, compareValues, formatValue, parseInteger } from '../../core/values/term-value.ts'
import type { Dictionary } from '../resolve-request.ts'

/** The order of the values of a list of facets, and their text in cursors. */
export interface ValueOrder {
  compare(a: TermValue, b: TermValue): number
  format(value: TermValue): string
  /** @throws Problem `VALIDATION_FAILED` */
  parse(text: string): TermValue
  /** True if the smallest and the largest value are of interest. */
  readonly hasRange: boolean
  /** The unit of quantities; empty if they have none. */
  readonly unit?: string
}

export const TEXT_ORDER: ValueOrder = { compare: compareValues, format: String, parse: (text) => text, hasRange: false }
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

const getAmount = (text: TermValue) => parseQuantity(text as string)!.amount

const createQuantityOrder = (unit: string): ValueOrder => ({
  ...TEXT_ORDER,
  compare: (a, b) => compareAmounts(getAmount(a), getAmount(b)) || compareValues(a, b),
  parse(text) {
    if (parseQuantity(text)) return text
    throw commonErrors.VALIDATION_FAILED(
      `querystring/after must be a number with a unit such as 10 ${unit || 'Mbps'}; received ${formatReceived(text)}`,
    )
  },
  hasRange: true,
  unit,
})

/** Returns the order of the values of a characteristic. @param char its term */
export function getValueOrder(char: number, { terms, usedTerms }: Dictionary): ValueOrder {
  const type = getCharType(usedTerms, char)
  if (type === 'integer') return INTEGER_ORDER
  if (type === 'boolean') return BOOLEAN_ORDER
  if (type === 'date') return DATE_ORDER
  const unit = findUnit(terms, usedTerms, char)
  return unit === undefined ? TEXT_ORDER : createQuantityOrder(unit)
}
