import type { Choice, Query } from './query.ts'
import { FREE } from './query.ts'
import type { Terms } from './terms.ts'

// A facet is a list of which a row has one term at most. The values of a characteristic go by its term, the others by these.
export const OFFERINGS = -2
export const GROUPS = -3
export const SPECS = -4

/** What is chosen so far. */
export interface Selection {
  /** By facet, whether a term of it will do. One that is not here is free. */
  readonly chosen: ReadonlyMap<number, (term: number) => boolean>
  /** The day on which a row must be valid; nothing where days do not matter. */
  readonly at: number | undefined
  /** The facet that a term is of. */
  facetOf(term: number): number
}

const FACETS = { offering: OFFERINGS, group: GROUPS, spec: SPECS, char: FREE }

/** @param choices all that `query` asks of characteristics, one by one */
export function selectionOf(query: Query, choices: readonly Choice[], { list }: Terms): Selection {
  const chosen = new Map<number, (term: number) => boolean>()
  const names = [
    [OFFERINGS, query.offering],
    [GROUPS, query.group],
    [SPECS, query.spec],
  ] as const
  for (const [facet, asked] of names) if (asked !== FREE) chosen.set(facet, (term) => term === asked)
  for (const [char, some] of Map.groupBy(choices, (choice) => choice.char))
    chosen.set(char, (term) => some.every((choice) => choice.accepts(term)))
  return {
    chosen,
    at: query.at,
    facetOf(term) {
      const known = list[term]!
      return known.kind === 'value' ? known.char : FACETS[known.kind]
    },
  }
}

/** How many rows have each term where it is chosen in place of what is chosen of its facet. */
export class FacetCounts {
  /** How many rows fit all that is chosen. */
  total = 0
  readonly ofTerm: Int32Array

  /** @param terms how many there are */
  constructor(terms: number) {
    this.ofTerm = new Int32Array(terms)
  }
}
