import { commonErrors } from '@influencer-stats/runtime/errors'
import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { RowTest, SearchQuery } from '../core/search-query.ts'
import { compareAmounts, MAX_DIGITS, parseAmount, type Amount } from '../core/values/amount.ts'
import { resolveRequest, type Dictionary, type ResolveFailure } from './resolve-request.ts'
import type { SearchConditions } from './search-request.ts'

/** The answers of rows, which conditions on the value and the currency test. */
export interface AnswerReader {
  getAmount(row: number): Amount
  getCurrency(row: number): string
}

/** The conditions of a search that an index cannot test, in the order in which `explain` applies them. */
export const ROW_FIELDS = ['currency', 'minValue', 'maxValue'] as const

/**
 * Parses a decimal of a search.
 * @throws Problem `VALIDATION_FAILED`
 */
export function readAmount(text: string, path: string): Amount {
  const amount = parseAmount(text)
  if (amount !== undefined) return amount
  throw commonErrors.VALIDATION_FAILED(
    `${path} must be a number of up to ${MAX_DIGITS} digits such as 9.99; received ${formatReceived(text)}`,
  )
}

/** Does the same as `resolveRequest`, and sets the `test` of the query. */
export function resolveSearch(
  search: SearchConditions,
  view: Dictionary & AnswerReader,
  query: SearchQuery,
  now?: number,
): ResolveFailure | undefined {
  const failure = resolveRequest(search, view, query, now)
  const tests = createRowTests(search, view)
  if (!failure && tests.length > 0) query.test = (row) => tests.every((test) => test(row))
  return failure
}

/** Returns the test of each condition in `ROW_FIELDS` that a search has. */
export function createRowTests({ currency, minValue, maxValue }: SearchConditions, answers: AnswerReader): RowTest[] {
  const tests: RowTest[] = []
  if (currency !== undefined) tests.push((row) => answers.getCurrency(row) === currency)
  if (minValue !== undefined) tests.push((row) => compareAmounts(answers.getAmount(row), minValue) >= 0)
  if (maxValue !== undefined) tests.push((row) => compareAmounts(answers.getAmount(row), maxValue) <= 0)
  return tests
}
