import type { Choice, SearchQuery } from './search-query.ts'
import { ANY_TERM } from './search-query.ts'
import type { Terms } from './terms.ts'

// A facet is a list of which a row has one term at most. The values of a characteristic go by its term, the others by these.
export const OFFERINGS_FACET = -2
export const GROUPS_FACET = -3
export const SPECS_FACET = -4

/** What is chosen so far. */
export interface FacetSelection {
  /** By facet, whether a term of it will do. One that is not here is free. */
  readonly chosen: ReadonlyMap<number, (term: number) => boolean>
  /** The day on which a row must be valid; nothing where days do not matter. */
  readonly at: number | undefined
  /** The facet that a term is of. */
  getFacet(term: number): number
}

const FACET_BY_KIND = { offering: OFFERINGS_FACET, group: GROUPS_FACET, spec: SPECS_FACET, char: ANY_TERM }

/** @param choices all that `query` asks of characteristics, one by one */
export function createSelection(query: SearchQuery, choices: readonly Choice[], { list }: Terms): FacetSelection {
  const chosen = new Map<number, (term: number) => boolean>()
  const names = [
    [OFFERINGS_FACET, query.offering],
    [GROUPS_FACET, query.group],
    [SPECS_FACET, query.spec],
  ] as const
  for (const [facet, chosenTerm] of names) if (chosenTerm !== ANY_TERM) chosen.set(facet, (term) => term === chosenTerm)
  for (const [char, charChoices] of Map.groupBy(choices, (choice) => choice.char))
    chosen.set(char, (term) => charChoices.every((choice) => choice.accepts(term)))
  return {
    chosen,
    at: query.at,
    getFacet(term) {
      const known = list[term]!
      return known.kind === 'value' ? known.char : FACET_BY_KIND[known.kind]
    },
  }
}

/** How many rows have each term where it is chosen in place of what is chosen of its facet. */
export class FacetCounts {
  /** How many rows fit all that is chosen. */
  total = 0
  readonly byTerm: Int32Array

  /** @param terms how many there are */
  constructor(terms: number) {
    this.byTerm = new Int32Array(terms)
  }
}
