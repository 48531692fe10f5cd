import type { ListQuery } from './list-query.ts'
import type { Selection } from './list-resource.ts'
import { buildPageTokens, getPageRange } from './page-token.ts'

/** Returns the page of a list that a query selects. */
export function selectPage<Item>(
  items: readonly Item[],
  { pageToken, maxResults }: Pick<ListQuery, 'pageToken' | 'maxResults'>,
): Selection<Item> {
  const range = getPageRange(pageToken, maxResults)
  return {
    items: items.slice(range.start, range.start + range.count),
    total: items.length,
    perPage: maxResults,
    ...buildPageTokens(range, items.length),
  }
}
