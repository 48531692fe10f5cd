import { ROW_FIELDS } from '../row-tests.ts'
import type { SearchConditions } from '../search-request.ts'

/** One condition of a search. */
export interface NamedCondition {
  /** The condition as a text, such as `Term equals "12"`. */
  readonly text: string
  /** The search without this condition. */
  readonly rest: SearchConditions
}

/** Returns the conditions of a search in the order in which `explain` applies them. */
export function listConditions(search: SearchConditions): NamedCondition[] {
  const listFields = (...names: readonly (keyof SearchConditions)[]): NamedCondition[] =>
    names.flatMap((name) => {
      const { [name]: value, ...rest } = search
      return value === undefined ? [] : [{ text: `${name} ${value}`, rest: rest as SearchConditions }]
    })
  const charConditions = search.charValues.map(({ char, op = 'equals', value }, i) => ({
    text: `${char} ${op} ${JSON.stringify(value)}`,
    rest: { ...search, charValues: search.charValues.toSpliced(i, 1) },
  }))
  return [...listFields('offeringId', 'groupId', 'priceSpecId'), ...charConditions, ...listFields('at', ...ROW_FIELDS)]
}
