import type { ScannedRow } from './row-scan.ts'
import type { RowTest } from '../core/search-query.ts'
import type { FacetCondition, FacetCounts, FacetSelection } from '../core/facet-selection.ts'
import { yieldTurn } from '@influencer-stats/runtime/async/yield'

/** Sets of rows, by term. */
export interface TermSets<S> {
  /** All terms that at least one row has, by their facet. */
  readonly facets: ReadonlyMap<number, readonly number[]>
  /** Returns the rows that have any of these terms, which are of one facet; undefined for all rows. */
  unite(terms: readonly number[]): S | undefined
  /** Returns the rows that are valid at a moment; undefined for all rows. */
  findValidAt(at: number): S | undefined
  /** Returns the rows that pass a test. It yields to the event loop meanwhile. */
  findTested(test: RowTest): Promise<S>
  /** Returns the rows of a set that are not in another one. */
  subtract(from: S, set: S): S
  /** Returns the rows in all of these sets, of which there are at least two. */
  intersect(sets: readonly S[]): S
  /** Returns how many rows of a set have a term; of all rows if there is no set. */
  count(term: number, within: S | undefined): number
  size(set: S | undefined): number
  /** Releases all sets, which are no longer used. */
  release?(): void
}

/** Groups terms by their facet. */
export const groupByFacet = (terms: readonly number[], { getFacet }: Pick<FacetSelection, 'getFacet'>) =>
  Map.groupBy(terms, (term) => getFacet(term))

/** Number of counts between two checks of the time. */
const COUNTS_PER_TIME_CHECK = 128
const NO_TERMS: readonly number[] = []

/**
 * Counts terms in sets, with one and-cardinality (the size of an intersection) per term. Terms of a facet with conditions
 * are counted in the rows that match all conditions on other facets. Terms of other facets are counted in the rows that
 * match all conditions.
 */
export async function countSets<S>(
  sets: TermSets<S>,
  { conditions, at, test, isMultiple }: Omit<FacetSelection, 'getFacet'>,
  counts: FacetCounts,
): Promise<void> {
  const { facets } = sets
  const matches = conditions.map((condition) => findMatchingTerms(condition, facets, isMultiple))
  const impossible = new Set(matches.flatMap(({ facet, terms, all }) => ((all ?? terms).length === 0 ? [facet] : [])))
  if (impossible.size > 1) return
  try {
    const matching: { readonly facet: number | undefined; readonly set: S }[] = []
    const add = (facet: number | undefined, set: S | undefined) =>
      void (set !== undefined && matching.push({ facet, set }))
    if (at !== undefined) add(undefined, sets.findValidAt(at))
    if (test) add(undefined, await sets.findTested(test))
    for (const [facet, some] of Map.groupBy(matches, (match) => match.facet)) {
      if (impossible.has(facet)) continue
      const ofFacet = some.flatMap((match) => uniteMatches(match, sets) ?? [])
      add(facet, ofFacet.length > 1 ? sets.intersect(ofFacet) : ofFacet[0])
    }
    // The smallest set first, because it removes the largest number of rows.
    matching.sort((a, b) => sets.size(a.set) - sets.size(b.set))

    const intersectExcept = createIntersectExcept(matching, sets.intersect)
    const isPossible = (except?: number) => impossible.size === 0 || (except !== undefined && impossible.has(except))
    const { byTerm } = counts
    const all = intersectExcept(undefined)
    if (isPossible()) counts.total += sets.size(all)
    let counted = 0
    const chosen = new Set(conditions.map(({ facet }) => facet))
    for (const [facet, terms] of facets) {
      const isChosen = chosen.has(facet)
      if (!isPossible(isChosen ? facet : undefined)) continue
      const left = isChosen ? intersectExcept(facet) : all
      let uncounted = sets.size(left)
      // Without lists, all terms are counted when all rows are.
      if (uncounted > 0 && isMultiple(facet)) uncounted = Infinity
      for (let i = 0; i < terms.length && uncounted > 0; i++) {
        const count = sets.count(terms[i]!, left)
        byTerm[terms[i]!]! += count
        uncounted -= count
        if (++counted % COUNTS_PER_TIME_CHECK === 0) await yieldTurn()
      }
    }
  } finally {
    sets.release?.()
  }
}

/** The terms of a facet that a condition requires. If `all` is given, it requires one of `all` and none of `terms`. */
interface MatchingTerms {
  readonly facet: number
  readonly terms: readonly number[]
  readonly all?: readonly number[]
}

function findMatchingTerms(
  { facet, accepts, isNegated }: FacetCondition,
  facets: ReadonlyMap<number, readonly number[]>,
  isMultiple: FacetSelection['isMultiple'],
): MatchingTerms {
  const all = facets.get(facet) ?? NO_TERMS
  if (isNegated && isMultiple(facet)) return { facet, terms: all.filter(accepts), all }
  return { facet, terms: all.filter((term) => accepts(term) !== isNegated) }
}

function uniteMatches<S>({ terms, all }: MatchingTerms, sets: TermSets<S>): S | undefined {
  if (!all || terms.length === 0) return sets.unite(all ?? terms)
  return sets.subtract(sets.unite(all)!, sets.unite(terms)!)
}

/**
 * Returns a function that intersects all sets except the set of one facet. Its result is undefined if no set remains.
 * Intersections of the preceding sets are cached, which halves the work.
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

/**
 * Adds one row to the counts.
 * @param by -1 removes it again
 */
export function countRow(
  { row, offering, group, spec, values, from, to }: ScannedRow,
  { conditions, at, test, getFacet }: FacetSelection,
  counts: FacetCounts,
  by: 1 | -1,
): void {
  if (at !== undefined && (at < from || at >= to)) return
  if (test && !test(row)) return
  const terms = [offering, group, spec, ...values]
  let failed: number | undefined
  for (const condition of conditions) {
    if (isMet(condition, terms, getFacet)) continue
    if (failed !== undefined && failed !== condition.facet) return
    failed = condition.facet
  }
  if (failed === undefined) counts.total += by
  for (const term of terms) if (failed === undefined || getFacet(term) === failed) counts.byTerm[term]! += by
}

function isMet(
  { facet, accepts, isNegated }: FacetCondition,
  terms: readonly number[],
  getFacet: FacetSelection['getFacet'],
): boolean {
  let hasFacet = false
  for (const term of terms) {
    if (getFacet(term) !== facet) continue
    if (accepts(term)) return !isNegated
    hasFacet = true
  }
  return hasFacet && isNegated
}
