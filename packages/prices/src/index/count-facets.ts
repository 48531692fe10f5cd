import type { PriceRow } from '../core/row-table.ts'
import type { FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { yieldTurn } from '../event-loop-turns.ts'

/** Rows as sets, by the terms that they have. */
export interface TermSets<S> {
  /** All terms that some row has, by their facet. */
  readonly facets: ReadonlyMap<number, readonly number[]>
  /** The rows that have any of these terms, which are of one facet; nothing where all have. */
  unite(terms: readonly number[]): S | undefined
  /** The rows that are valid on a day; nothing where all are. */
  findValidOn(day: number): S | undefined
  /** The rows in all of these sets, which are two or more. */
  intersect(sets: readonly S[]): S
  /** How many rows of a set have a term; of all rows where there is no set. */
  count(term: number, within: S | undefined): number
  size(set: S | undefined): number
  /** None of the sets is used any more. */
  release?(): void
}

/** The terms of a list by their facet. */
export const groupByFacet = (terms: readonly number[], { getFacet: facetOf }: Pick<FacetSelection, 'getFacet'>) =>
  Map.groupBy(terms, (term) => facetOf(term))

/** So many counts are made between two looks at the time. */
const COUNTS_PER_TIME_CHECK = 128
const NO_TERMS: readonly number[] = []

/**
 * Counts terms in sets: an and-cardinality a term. Terms of a facet of which something is chosen are counted within what
 * all else leaves, those of the others within what everything leaves.
 */
export async function countSets<S>(
  sets: TermSets<S>,
  { chosen, at }: Pick<FacetSelection, 'chosen' | 'at'>,
  counts: FacetCounts,
): Promise<void> {
  const { facets } = sets
  const accepted = Array.from(chosen, ([facet, accepts]) => {
    return [facet, (facets.get(facet) ?? NO_TERMS).filter(accepts)] as const
  })
  const impossible = accepted.filter(([, terms]) => terms.length === 0)
  if (impossible.length > 1) return
  try {
    const matching: { readonly facet: number | undefined; readonly set: S }[] = []
    const add = (facet: number | undefined, set: S | undefined) =>
      void (set !== undefined && matching.push({ facet, set }))
    if (at !== undefined) add(undefined, sets.findValidOn(at))
    for (const [facet, terms] of accepted) if (terms.length > 0) add(facet, sets.unite(terms))
    // What is smaller cuts more.
    matching.sort((a, b) => sets.size(a.set) - sets.size(b.set))

    const intersectExcept = createIntersectExcept(matching, sets.intersect)
    const isPossible = (except?: number) => impossible.every(([facet]) => facet === except)
    const { byTerm: ofTerm } = counts
    const all = intersectExcept(undefined)
    if (isPossible()) counts.total += sets.size(all)
    let counted = 0
    for (const [facet, terms] of facets) {
      const isChosen = chosen.has(facet)
      if (!isPossible(isChosen ? facet : undefined)) continue
      const left = isChosen ? intersectExcept(facet) : all
      let uncounted = sets.size(left)
      for (let i = 0; i < terms.length && uncounted > 0; i++) {
        const count = sets.count(terms[i]!, left)
        ofTerm[terms[i]!]! += count
        // A row has one term of a facet at most.
        uncounted -= count
        if (++counted % COUNTS_PER_TIME_CHECK === 0) await yieldTurn()
      }
    }
  } finally {
    sets.release?.()
  }
}

/**
 * What sets have in common but for one of them; nothing where no other is left. What those before it have in common is kept,
 * which halves the work.
 */
function createIntersectExcept<S>(
  matching: readonly { readonly facet: number | undefined; readonly set: S }[],
  intersect: TermSets<S>['intersect'],
): (except: number | undefined) => S | undefined {
  const common = (sets: readonly S[]) => (sets.length > 1 ? intersect(sets) : sets[0])
  const before: (S | undefined)[] = [undefined]
  for (const { set } of matching) {
    const last = before.at(-1)
    before.push(last === undefined ? set : intersect([last, set]))
  }
  return (except) => {
    const at = except === undefined ? -1 : matching.findIndex(({ facet }) => facet === except)
    if (at < 0) return before.at(-1)
    const first = before[at]
    return common([...(first === undefined ? [] : [first]), ...matching.slice(at + 1).map(({ set }) => set)])
  }
}

/** What one row adds to the counts. @param by -1 takes it away again */
export function countRow(
  { offering, group, spec, values, from, to }: Omit<PriceRow, 'values'> & { readonly values: Iterable<number> },
  { chosen, at, getFacet: facetOf }: FacetSelection,
  counts: FacetCounts,
  by: 1 | -1,
): void {
  if (at !== undefined && (at < from || to < at)) return
  const terms = [offering, group, spec, ...values]
  let misses = chosen.size
  let missed: number | undefined
  for (const term of terms) {
    const accepts = chosen.get(facetOf(term))
    if (accepts?.(term)) misses--
    else if (accepts) missed = term
  }
  if (misses === 0) {
    counts.total += by
    for (const term of terms) counts.byTerm[term]! += by
  } else if (misses === 1 && missed !== undefined) counts.byTerm[missed]! += by
}
