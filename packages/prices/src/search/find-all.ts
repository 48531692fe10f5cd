import { forEachInTurns, yieldTurn } from '@influencer-stats/runtime/async/yield'
import { ANY_TERM, SearchQuery } from '../core/search-query.ts'
import { toResolveProblem } from '../errors.ts'
import { findRows, type RowFinder } from '../index/price-index.ts'
import type { CatalogView } from './catalog-view.ts'
import { findBitmapIndex } from './load-indexes.ts'
import type { Dictionary } from './resolve-request.ts'
import { resolveSearch } from './row-tests.ts'
import type { SearchConditions } from './search-request.ts'

/**
 * Yields the rows that match a query, one list for each offering. The offering, the group and the spec of the query may
 * be `ANY_TERM`; the query is changed. It yields to the event loop between two offerings.
 */
export async function* findAllRows(
  query: SearchQuery,
  dictionary: Dictionary,
  index: RowFinder,
): AsyncGenerator<readonly number[], void> {
  const offerings = query.offering === ANY_TERM ? await listOfferings(dictionary) : [query.offering]
  for (const offering of offerings) {
    query.offering = offering
    const rows = findRows(index, query)
    if (rows.length > 0) yield rows
    await yieldTurn()
  }
}

/** Returns the offerings that at least one row has. */
async function listOfferings({ terms, usedTerms }: Dictionary): Promise<number[]> {
  const offerings: number[] = []
  await forEachInTurns(usedTerms.length, (term) => {
    if (usedTerms[term]! > 0 && terms.list[term]!.kind === 'offering') offerings.push(term)
  })
  return offerings
}

/**
 * Returns how many prices match, in the state of the catalog at the time of the call. It uses a bitmap index if there is one.
 * @throws Problem
 */
export async function countPrices(conditions: SearchConditions, view: CatalogView): Promise<number> {
  const name = findBitmapIndex(view.indexes) ?? [...view.indexes.keys()][0]!
  const query = new SearchQuery()
  const failure = resolveSearch(conditions, view, query)
  if (failure) throw toResolveProblem(failure)
  view.hold()
  try {
    let count = 0
    for await (const rows of findAllRows(query, view, view.indexes.get(name)!)) count += rows.length
    return count
  } finally {
    await view.release()
  }
}
