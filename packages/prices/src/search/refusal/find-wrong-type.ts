import { formatReceived } from '@influencer-stats/runtime/received-value'
import { findUnit, getCharType, type Terms } from '../../core/terms.ts'
import { parseQuantity } from '../../core/values/quantity.ts'
import { isOfType, type TermValue } from '../../core/values/term-value.ts'
import type { SearchCondition } from '../search-request.ts'

/** Maximum number of texts, and of units, that describe why a characteristic has no order. */
const MAX_TEXTS = 1_000
const MAX_UNITS = 5
const NO_UNIT = 'no unit'

export const listConditionValues = (value: SearchCondition['value']): readonly TermValue[] =>
  Array.isArray(value) ? value : [value as TermValue]

/**
 * Returns the reason why the values of a condition do not suit its characteristic; undefined if they do.
 * @param char the term of the characteristic, which at least one row has
 */
export function findWrongType(
  { char: name, op, value }: SearchCondition,
  char: number,
  terms: Terms,
  usedTerms: Uint8Array,
): string | undefined {
  const type = getCharType(usedTerms, char)!
  const values = listConditionValues(value)
  if (op !== 'between' || type !== 'string') {
    const wrong = values.find((one) => !isOfType(type, one))
    return wrong === undefined ? undefined : `${name} must be of type ${type}; received ${formatReceived(wrong)}`
  }
  const unit = findUnit(terms, usedTerms, char)
  if (unit === undefined) return `${name} has no order for between: ${describeTexts(char, terms, usedTerms)}`
  const wrong = values.find((one) => !isOfUnit(one, unit))
  if (wrong === undefined) return undefined
  return `${name} must be a number${unit && ` with the unit ${unit}, or without one`}; received ${formatReceived(wrong)}`
}

function isOfUnit(value: TermValue, unit: string): boolean {
  if (typeof value === 'number') return true
  const quantity = parseQuantity(value as string)
  return quantity !== undefined && (quantity.unit === unit || quantity.unit === '')
}

/** Describes why the texts of a characteristic are not quantities of one unit, from the first of them. */
function describeTexts(char: number, terms: Terms, usedTerms: Uint8Array): string {
  const units = new Set<string>()
  let texts = 0
  for (const [text, term] of terms.getTexts(char)) {
    if (units.size > MAX_UNITS || texts++ === MAX_TEXTS) break
    const quantity = usedTerms[term]! > 0 ? parseQuantity(text) : undefined
    if (quantity) units.add(quantity.unit || NO_UNIT)
  }
  if (units.size < 2) return 'its values are texts; use in, or store integers or numbers with one unit'
  const listed = [...units].slice(0, MAX_UNITS).sort().join(', ')
  return `its units differ: ${listed}${units.size > MAX_UNITS ? ', ...' : ''}`
}
