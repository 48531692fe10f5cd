import type { SearchQuery } from '../../core/search-query.ts'
import type { RowFinder } from '../../index/price-index.ts'
import { createRowTests, type AnswerReader } from '../row-tests.ts'
import { createChoices, type Dictionary } from '../resolve-request.ts'
import type { SearchRequest } from '../search-request.ts'
import { listConditions } from './list-conditions.ts'

/** One condition of a search, and the number of rows (`left`) that match it and all conditions before it. */
export interface ExplainStep {
  readonly condition: string
  readonly left: number
}

/** @param query the resolved search */
export function explainSearch(
  search: SearchRequest,
  view: Dictionary & AnswerReader,
  query: SearchQuery,
  index: RowFinder,
): ExplainStep[] {
  const left = index.explain(query, createChoices(search, view))
  if (query.test) {
    let rows: number[] = []
    index.forEach(query, (row) => void rows.push(row))
    for (const test of createRowTests(search, view)) {
      rows = rows.filter(test)
      left.push(rows.length)
    }
  }
  return listConditions(search).map(({ text }, i) => ({ condition: text, left: left[i]! }))
}
