import type { Choice, RowTest, SearchQuery } from './search-query.ts'
import { ANY_TERM } from './search-query.ts'
import { hasLists, type Terms } from './terms.ts'

// A facet is a group of terms that are alternatives. Each facet has a number. The facet of the values of a characteristic
// has the number of the characteristic's term. The other facets have these numbers.
export const OFFERINGS_FACET = -2
export const GROUPS_FACET = -3
export const SPECS_FACET = -4

/** A condition on a facet. See `Choice`. */
export interface FacetCondition extends Pick<Choice, 'accepts' | 'isNegated'> {
  readonly facet: number
}

/** The current selection. */
export interface FacetSelection {
  readonly conditions: readonly FacetCondition[]
  /** The saturated moment at which a row must be valid; undefined if dates do not matter. */
  readonly at: number | undefined
  /** An additional condition on a row. */
  readonly test?: RowTest | undefined
  /** Returns the facet of a term; `ANY_TERM` for a characteristic, which belongs to no facet. */
  getFacet(term: number): number
  /** True if a row can have several terms of a facet. */
  isMultiple(facet: number): boolean
}

const FACET_BY_KIND = { offering: OFFERINGS_FACET, group: GROUPS_FACET, spec: SPECS_FACET, char: ANY_TERM }

/** Creates the selection of a query. @param choices all conditions of the query on characteristics, one by one */
export function createSelection(
  query: SearchQuery,
  choices: readonly Choice[],
  { terms: { list }, usedTerms }: { readonly terms: Terms; readonly usedTerms: Uint8Array },
): FacetSelection {
  const names = [
    [OFFERINGS_FACET, query.offering],
    [GROUPS_FACET, query.group],
    [SPECS_FACET, query.spec],
  ] as const
  const named = names.filter(([, chosen]) => chosen !== ANY_TERM)
  return {
    conditions: [
      ...named.map(([facet, chosen]) => ({ facet, accepts: (term: number) => term === chosen, isNegated: false })),
      ...choices.map(({ char, accepts, isNegated }) => ({ facet: char, accepts, isNegated })),
    ],
    at: query.at,
    test: query.test,
    isMultiple: (facet) => facet >= 0 && hasLists(usedTerms, facet),
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
