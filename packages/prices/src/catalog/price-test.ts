import type { AnswerBlock } from '../core/answer-block.ts'
import type { AnswerWords } from '../core/answer-words.ts'
import type { PriceRow } from '../core/row-table.ts'
import { ANY_TERM, SearchQuery } from '../core/search-query.ts'
import { toResolveProblem } from '../errors.ts'
import { isMatch, toScannedRow } from '../index/row-scan.ts'
import type { Dictionary } from '../search/resolve-request.ts'
import { resolveSearch } from '../search/row-tests.ts'
import type { SearchConditions } from '../search/search-request.ts'

/** True for a price that matches. `slot` is the slot of its answer in `block`. */
export type PriceTest = (row: PriceRow, block: AnswerBlock, slot: number) => boolean

/**
 * Creates a test of all conditions that needs no index. For the same prices and conditions, each node has the same result.
 * @param conditions their `at` is not `now`
 * @throws Problem the reason why they cannot be tested: unknown names, or values of another type
 */
export function createPriceTest(
  conditions: SearchConditions,
  { terms, usedTerms, words }: Dictionary & { readonly words: AnswerWords },
): PriceTest {
  const query = new SearchQuery()
  let answers: AnswerBlock
  const view = {
    terms,
    usedTerms,
    getAmount: (slot: number) => answers.getAmount(slot, words),
    getCurrency: (slot: number) => words.getKind(answers.getKind(slot)).currency,
  }
  const failure = resolveSearch(conditions, view, query)
  if (failure) throw toResolveProblem(failure)
  const { offering, test } = query
  return (row, block, slot) => {
    if (offering !== ANY_TERM && row.offering !== offering) return false
    if (!isMatch(toScannedRow({ ...row, row: slot }), query)) return false
    answers = block
    return test === undefined || test(slot)
  }
}
