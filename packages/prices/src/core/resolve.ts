import { dayOf, isDate } from './dates.ts'
import type { Value } from './price.ts'
import { FREE, type Choice, type Query } from './query.ts'
import type { Condition, Conditions } from './request.ts'
import { fits, typeIn, type Terms } from './terms.ts'
import type { TextTable } from './text-table.ts'

/** Why a request cannot be searched for: the code of an error and what it is about. */
export interface Miss {
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

/** The dictionary as one view of the catalog knows it: `live` says, by term, whether some row has it, and the types of characteristics. */
export interface Words {
  readonly terms: Terms
  readonly live: Uint8Array
}

/** A term that some row has, or -1. */
const alive = (live: Uint8Array, term: number) => (term >= 0 && live[term]! > 0 ? term : -1)

/** The term of a name; `FREE` where none is asked for, and where none is alive. */
const termOf = (name: string | undefined, table: TextTable, live: Uint8Array) =>
  name === undefined ? FREE : alive(live, table.find(name))

/** Puts a request into terms; what it does not ask for is free. @returns why it cannot be */
export function resolve(request: Conditions, { terms, live }: Words, query: Query): Miss | undefined {
  const { offeringId, groupId, priceSpecId, charValues, at } = request
  const offering = termOf(offeringId, terms.offerings, live)
  if (offering < 0 && offeringId !== undefined) return { code: 'OFFERING_NOT_FOUND', detail: offeringId }
  const group = termOf(groupId, terms.groups, live)
  if (group < 0 && groupId !== undefined) return { code: 'GROUP_NOT_FOUND', detail: groupId }
  const spec = termOf(priceSpecId, terms.specs, live)
  if (spec < 0 && priceSpecId !== undefined) return { code: 'SPEC_NOT_FOUND', detail: priceSpecId }
  query.reset(offering, group, spec)
  for (const condition of charValues) {
    const miss = resolveCondition(condition, terms, live, query)
    if (miss) return miss
  }
  if (at !== undefined) {
    if (!isDate(at)) return { code: 'VALIDATION_FAILED', detail: `at: ${at} is no date` }
    query.at = dayOf(at)
  }
  return undefined
}

function resolveCondition(condition: Condition, terms: Terms, live: Uint8Array, query: Query): Miss | undefined {
  const char = alive(live, terms.chars.find(condition.char))
  if (char < 0) return { code: 'CHARACTERISTIC_NOT_FOUND', detail: condition.char }
  const { op = 'equals', value } = condition
  const term = op === 'equals' ? alive(live, terms.findValue(char, value as Value)) : -1
  if (term >= 0) {
    query.values[query.count++] = term
    return undefined
  }
  const type = typeIn(live, char)!
  const wrong = (Array.isArray(value) ? value : [value]).find((one) => !fits(type, one))
  if (wrong !== undefined) return { code: 'VALUE_TYPE', detail: `${condition.char} is of type ${type}` }
  if (op === 'equals') return { code: 'VALUE_NOT_FOUND', detail: `${condition.char}: ${value}` }
  query.choices.push(choiceOf(condition, char, terms))
  return undefined
}

/** Every condition of a request that `resolve` took, one by one. */
export const choicesOf = ({ charValues }: Conditions, { terms }: Words): Choice[] =>
  charValues.map((condition) => choiceOf(condition, terms.chars.find(condition.char), terms))

function choiceOf({ op = 'equals', value }: Condition, char: number, terms: Terms): Choice {
  const choice = (accepts: Choice['accepts']): Choice => ({ char, charOf: (term) => terms.charOf(term), accepts })
  if (op === 'between') {
    const [low, high] = value as [Value, Value]
    // Texts are ordered by code unit, which is the order of time for dates.
    return choice((term) => {
      const one = terms.valueOf(term)
      return low <= one && one <= high
    })
  }
  if (op === 'equals' || op === 'not') {
    const asked = terms.findValue(char, value as Value)
    return choice(op === 'equals' ? (term) => term === asked : (term) => term !== asked)
  }
  const listed = new Set((value as Value[]).map((one) => terms.findValue(char, one)))
  return choice(op === 'in' ? (term) => listed.has(term) : (term) => !listed.has(term))
}
