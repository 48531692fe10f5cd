import { formatReceived } from '@influencer-stats/runtime/received-value'
import { toDay, isDate } from './dates.ts'
import type { TermValue } from './price.ts'
import { ANY_TERM, type Choice, type SearchQuery } from './search-query.ts'
import type { SearchCondition, SearchConditions } from './search-request.ts'
import { isOfType, getLiveType, type Terms } from './terms.ts'
import type { TextTable } from './text-table.ts'

/** The reason that a request cannot be searched: an error code and its detail. */
export interface ResolveFailure {
  readonly code:
    | 'OFFERING_NOT_FOUND'
    | 'GROUP_NOT_FOUND'
    | 'SPEC_NOT_FOUND'
    | 'CHARACTERISTIC_NOT_FOUND'
    | 'VALUE_NOT_FOUND'
    | 'VALUE_TYPE'
    | 'VALIDATION_FAILED'
  readonly detail: string
}

/**
 * The dictionary of one view of the catalog. `live` has a byte per term: 0 if no row has it, and for a characteristic
 * its type.
 */
export interface Dictionary {
  readonly terms: Terms
  readonly live: Uint8Array
}

/** Returns a term if at least one row has it, else -1. */
const toLiveTerm = (live: Uint8Array, term: number) => (term >= 0 && live[term]! > 0 ? term : -1)

/** Returns the term of a name; `ANY_TERM` (-1) if there is no name, or if no row has it. */
const findLiveTerm = (name: string | undefined, table: TextTable, live: Uint8Array) =>
  name === undefined ? ANY_TERM : toLiveTerm(live, table.find(name))

/**
 * Converts a request into terms. A condition that it omits is unrestricted.
 * @returns the reason of a failure
 */
export function resolveRequest(
  request: SearchConditions,
  { terms, live }: Dictionary,
  query: SearchQuery,
): ResolveFailure | undefined {
  const { offeringId, groupId, priceSpecId, charValues, at } = request
  const offering = findLiveTerm(offeringId, terms.offerings, live)
  if (offering < 0 && offeringId !== undefined) return { code: 'OFFERING_NOT_FOUND', detail: offeringId }
  const group = findLiveTerm(groupId, terms.groups, live)
  if (group < 0 && groupId !== undefined) return { code: 'GROUP_NOT_FOUND', detail: groupId }
  const spec = findLiveTerm(priceSpecId, terms.specs, live)
  if (spec < 0 && priceSpecId !== undefined) return { code: 'SPEC_NOT_FOUND', detail: priceSpecId }
  query.reset(offering, group, spec)
  for (const condition of charValues) {
    const failure = resolveCondition(condition, terms, live, query)
    if (failure) return failure
  }
  if (at !== undefined) {
    if (!isDate(at))
      return {
        code: 'VALIDATION_FAILED',
        detail: `at must be a date such as 2026-01-31; received ${formatReceived(at)}`,
      }
    query.at = toDay(at)
  }
  return undefined
}

function resolveCondition(
  condition: SearchCondition,
  terms: Terms,
  live: Uint8Array,
  query: SearchQuery,
): ResolveFailure | undefined {
  const char = toLiveTerm(live, terms.chars.find(condition.char))
  if (char < 0) return { code: 'CHARACTERISTIC_NOT_FOUND', detail: condition.char }
  const { op = 'equals', value } = condition
  const term = op === 'equals' ? toLiveTerm(live, terms.findValue(char, value as TermValue)) : -1
  if (term >= 0) {
    query.values[query.count++] = term
    return undefined
  }
  const type = getLiveType(live, char)!
  const wrong = (Array.isArray(value) ? value : [value]).find((one) => !isOfType(type, one))
  if (wrong !== undefined)
    return {
      code: 'VALUE_TYPE',
      detail: `${condition.char} must be of type ${type}; received ${formatReceived(wrong)}`,
    }
  if (op === 'equals') return { code: 'VALUE_NOT_FOUND', detail: `${condition.char}: ${value}` }
  query.choices.push(createChoice(condition, char, terms))
  return undefined
}

/** Returns every condition of a request that `resolveRequest` accepted, one by one. */
export const createChoices = ({ charValues }: SearchConditions, { terms }: Dictionary): Choice[] =>
  charValues.map((condition) => createChoice(condition, terms.chars.find(condition.char), terms))

function createChoice({ op = 'equals', value }: SearchCondition, char: number, terms: Terms): Choice {
  const toChoice = (accepts: Choice['accepts']): Choice => ({ char, getChar: (term) => terms.getChar(term), accepts })
  if (op === 'between') {
    const [low, high] = value as [TermValue, TermValue]
    // Texts are ordered by code unit, which for dates is the order of time.
    return toChoice((term) => {
      const one = terms.getValue(term)
      return low <= one && one <= high
    })
  }
  if (op === 'equals' || op === 'not') {
    const expected = terms.findValue(char, value as TermValue)
    return toChoice(op === 'equals' ? (term) => term === expected : (term) => term !== expected)
  }
  const listed = new Set((value as TermValue[]).map((one) => terms.findValue(char, one)))
  return toChoice(op === 'in' ? (term) => listed.has(term) : (term) => !listed.has(term))
}
