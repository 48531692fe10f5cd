import { getCurrentMoment, parseMoment, saturateStart } from '../core/values/moment.ts'
import { ANY_TERM, type Choice, type SearchQuery } from '../core/search-query.ts'
import type { SearchCondition, SearchConditions } from './search-request.ts'
import { isQuantity, type Terms } from '../core/terms.ts'
import type { TextTable } from '../core/text-table.ts'
import { compareAmounts, type Amount } from '../core/values/amount.ts'
import { parseQuantity } from '../core/values/quantity.ts'
import { formatValue, isRange, overlaps, type RangeValue, type TermValue } from '../core/values/term-value.ts'
import { findWrongType, listConditionValues } from './refusal/find-wrong-type.ts'

/** The reason that a request cannot be searched: an error code and its detail. */
export interface ResolveFailure {
  readonly code:
    | 'OFFERING_NOT_FOUND'
    | 'GROUP_NOT_FOUND'
    | 'SPEC_NOT_FOUND'
    | 'CHARACTERISTIC_NOT_FOUND'
    | 'VALUE_NOT_FOUND'
    | 'VALUE_TYPE'
  readonly detail: string
}

/**
 * The dictionary of one view of the catalog. For `usedTerms` see `TermCounts.getUsedTerms`: 0 means that no row has the
 * term.
 */
export interface Dictionary {
  readonly terms: Terms
  readonly usedTerms: Uint8Array
}

/** Returns a term if at least one row has it, else -1. */
const toUsedTerm = (usedTerms: Uint8Array, term: number) => (term >= 0 && usedTerms[term]! > 0 ? term : -1)

/** Returns the term of a name; `ANY_TERM` (-1) if there is no name, or if no row has it. */
const findUsedTerm = (name: string | undefined, table: TextTable, usedTerms: Uint8Array) =>
  name === undefined ? ANY_TERM : toUsedTerm(usedTerms, table.find(name))

/**
 * Converts a request into terms, and stores them in `query`. Omitted conditions do not restrict the search.
 * @param now the moment that `now` means
 * @returns the reason of a failure; undefined after a success
 */
export function resolveRequest(
  request: SearchConditions,
  { terms, usedTerms }: Dictionary,
  query: SearchQuery,
  now = getCurrentMoment(),
): ResolveFailure | undefined {
  const { offeringId, groupId, priceSpecId, charValues, at } = request
  const offering = findUsedTerm(offeringId, terms.offerings, usedTerms)
  if (offering < 0 && offeringId !== undefined) return { code: 'OFFERING_NOT_FOUND', detail: offeringId }
  const group = findUsedTerm(groupId, terms.groups, usedTerms)
  if (group < 0 && groupId !== undefined) return { code: 'GROUP_NOT_FOUND', detail: groupId }
  const spec = findUsedTerm(priceSpecId, terms.specs, usedTerms)
  if (spec < 0 && priceSpecId !== undefined) return { code: 'SPEC_NOT_FOUND', detail: priceSpecId }
  query.reset(offering, group, spec)
  for (const condition of charValues) {
    const failure = resolveCondition(condition, terms, usedTerms, query)
    if (failure) return failure
  }
  if (at !== undefined) query.at = saturateStart(at === 'now' ? now : parseMoment(at)!)
  return undefined
}

function resolveCondition(
  condition: SearchCondition,
  terms: Terms,
  usedTerms: Uint8Array,
  query: SearchQuery,
): ResolveFailure | undefined {
  const char = toUsedTerm(usedTerms, terms.chars.find(condition.char))
  if (char < 0) return { code: 'CHARACTERISTIC_NOT_FOUND', detail: condition.char }
  const { op = 'equals', value } = condition
  const term = op === 'equals' ? toUsedTerm(usedTerms, terms.findValue(char, value as TermValue)) : -1
  // Ranges can contain an integer.
  const isEqualsRange = op === 'equals' && typeof value === 'number' && terms.getRanges(char).length > 0
  if (term >= 0 && !isEqualsRange) {
    query.values[query.count++] = term
    return undefined
  }
  const wrong = findWrongType(condition, char, terms, usedTerms)
  if (wrong !== undefined) return { code: 'VALUE_TYPE', detail: wrong }
  const choice = createChoice(condition, char, terms, usedTerms)
  const isFound = isEqualsRange ? term >= 0 || terms.getRanges(char).some(isUsedAndAccepted) : op !== 'equals'
  if (!isFound) return { code: 'VALUE_NOT_FOUND', detail: `${condition.char}: ${formatValue(value as TermValue)}` }
  query.choices.push(choice)
  return undefined

  function isUsedAndAccepted(range: number): boolean {
    return toUsedTerm(usedTerms, range) >= 0 && choice.accepts(range)
  }
}

/** Returns every condition of a request that `resolveRequest` accepted, one by one. */
export const createChoices = ({ charValues }: SearchConditions, { terms, usedTerms }: Dictionary): Choice[] =>
  charValues.map((condition) => createChoice(condition, terms.chars.find(condition.char), terms, usedTerms))

function createChoice(
  { op = 'equals', value }: SearchCondition,
  char: number,
  terms: Terms,
  usedTerms: Uint8Array,
): Choice {
  const isNegated = op === 'not' || op === 'notIn'
  const toChoice = (accepts: Choice['accepts']): Choice => {
    return { char, getChar: (term) => terms.getChar(term), accepts, isNegated }
  }
  if (op === 'between') {
    const [low, high] = value as [string | number, string | number]
    if (isQuantity(usedTerms, char)) {
      const [lowest, highest] = [toAmount(low), toAmount(high)]
      return toChoice((term) => {
        const amount = terms.getAmount(term)
        return compareAmounts(amount, lowest) >= 0 && compareAmounts(amount, highest) <= 0
      })
    }
    // Dates are ordered by code unit, which is the order of time.
    return toChoice((term) => {
      const one = terms.getValue(term)
      return isRange(one) ? overlaps(one, Number(low), Number(high)) : low <= one && one <= high
    })
  }
  const listed = new Set<number>()
  for (const one of listConditionValues(value)) listed.add(terms.findValue(char, one))
  for (const range of listContainingRanges(listConditionValues(value), terms.getRanges(char), terms)) listed.add(range)
  return toChoice((term) => listed.has(term))
}

const toAmount = (end: string | number): Amount => (typeof end === 'number' ? end : parseQuantity(end)!.amount)

/** Returns the ranges that contain one of the integers. */
function listContainingRanges(values: readonly TermValue[], ranges: readonly number[], terms: Terms): number[] {
  if (ranges.length === 0) return []
  const integers = values.filter((value) => typeof value === 'number').sort((a, b) => a - b)
  return ranges.filter((term) => {
    const { from = -Infinity, to = Infinity } = terms.getValue(term) as RangeValue
    // The number of integers below the range.
    let [low, high] = [0, integers.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (integers[middle]! < from) low = middle + 1
      else high = middle
    }
    return low < integers.length && integers[low]! <= to
  })
}
