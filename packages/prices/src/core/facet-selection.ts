import type { Choice, SearchQuery } from './search-query.ts'
import { ANY_TERM } from './search-query.ts'
import type { Terms } from './terms.ts'

// A facet is a group of terms of which a row has at most one. Each facet has a number. The facet of the values of a
// characteristic has the number of the characteristic's term. The other facets have these numbers.
export const OFFERINGS_FACET = -2
export const GROUPS_FACET = -3
export const SPECS_FACET = -4

/** The current selection. */
export interface FacetSelection {
  /** By facet, returns true for an accepted term. A facet without an entry is unrestricted. */
  readonly chosen: ReadonlyMap<number, (term: number) => boolean>
  /** The saturated moment at which a row must be valid; undefined if dates do not matter. */
  readonly at: number | undefined
  /** Returns the facet of a term; `ANY_TERM` for a characteristic, which belongs to no facet. */
  getFacet(term: number): number
}

const FACET_BY_KIND = { offering: OFFERINGS_FACET, group: GROUPS_FACET, spec: SPECS_FACET, char: ANY_TERM }

/** Creates the selection of a query. @param choices all conditions of the query on characteristics, one by one */
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

/** For each term, the number of rows that match if the term replaces the selection of its facet. */
export class FacetCounts {
  /** Number of rows that match the whole selection. */
  total = 0
  readonly byTerm: Int32Array

  /** @param terms number of terms */
  constructor(terms: number) {
    this.byTerm = new Int32Array(terms)
  }
}
