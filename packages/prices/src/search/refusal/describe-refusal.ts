import { forEachInTurns } from '@influencer-stats/runtime/async/yield'
import { Problem } from '@influencer-stats/runtime/problems'
import { RowOrder } from '../../core/row-order.ts'
import type { Price } from '../../core/price.ts'
import { formatId } from '../../core/price-id.ts'
import { toJsonPrice } from '../../core/price-json.ts'
import { SearchQuery } from '../../core/search-query.ts'
import { findRows, type RowFinder } from '../../index/price-index.ts'
import type { CatalogView } from '../catalog-view.ts'
import { readSearch } from '../read-search.ts'
import { resolveSearch } from '../row-tests.ts'
import type { SearchConditions } from '../search-request.ts'
import { explainSearch } from './explain-search.ts'
import { listConditions, type NamedCondition } from './list-conditions.ts'
import { listDifferences } from './list-differences.ts'

/** Maximum number of prices in the description of a refusal. */
export const MAX_CANDIDATES = 10

/** Returns the prices of these ids that exist; undefined if they cannot be read at present. */
export type ReadPrices = (ids: readonly string[]) => Promise<Price[] | undefined>

/** Members of a refused search, in addition to those of a problem. */
type RefusalMembers = {
  /** The first condition that no price matches together with the conditions before it. */
  readonly condition?: string
  /** Prices that match all conditions, or all except `condition`. The first ones by id. */
  readonly candidates?: readonly Price[]
  /** The names of the fields and characteristics in which the candidates differ, if all conditions match. */
  readonly differences?: readonly string[]
}

const DESCRIBED_CODES: ReadonlySet<string> = new Set([
  'PRICE_NOT_FOUND',
  'PRICES_AMBIGUOUS',
  'GROUP_NOT_FOUND',
  'SPEC_NOT_FOUND',
  'CHARACTERISTIC_NOT_FOUND',
  'VALUE_NOT_FOUND',
])

/** True if `describeRefusal` can describe the error of a search. */
export const isDescribed = (error: unknown): error is Problem =>
  error instanceof Problem && DESCRIBED_CODES.has(error.code)

/** The data that describes a refusal. */
export interface RefusalSource {
  readonly view: CatalogView
  readonly index: RowFinder
  readonly readPrices: ReadPrices
}

/**
 * Describes why a search has no result. It yields to the event loop meanwhile.
 * @param problem the refusal of the search
 * @returns the reply to a search with `explain`
 * @throws Problem the refusal with more members
 */
export async function describeRefusal(problem: Problem, body: Buffer, source: RefusalSource): Promise<string> {
  const { view, index } = source
  const { code, detail } = problem
  const search = readSearch(body)
  const query = new SearchQuery()
  const isResolved = resolveSearch(search, view, query) === undefined
  view.hold()
  try {
    if (!isResolved) {
      const failed = listConditions(search).find(({ rest }) => isResolvable(rest, view))
      throw new Problem(code, problem, detail, { members: await describeCondition(failed, source) })
    }
    const explain = explainSearch(search, view, query, index)
    const members =
      code === 'PRICES_AMBIGUOUS'
        ? await describeMatches(query, source)
        : await describeCondition(listConditions(search)[explain.findIndex(({ left }) => left === 0)], source)
    if (!search.explain) throw new Problem(code, problem, detail, { members })
    return JSON.stringify({ error: { code, message: detail }, explain, ...members })
  } finally {
    await view.release()
  }
}

const isResolvable = (search: SearchConditions, view: CatalogView) =>
  resolveSearch(search, view, new SearchQuery()) === undefined

async function describeMatches(query: SearchQuery, source: RefusalSource): Promise<RefusalMembers> {
  const candidates = await readCandidates(query, source)
  return candidates ? { candidates: candidates.map(toJsonPrice), differences: listDifferences(candidates) } : {}
}

/** @param failed undefined if several conditions fail */
async function describeCondition(failed: NamedCondition | undefined, source: RefusalSource): Promise<RefusalMembers> {
  if (!failed) return {}
  const query = new SearchQuery()
  resolveSearch(failed.rest, source.view, query)
  const candidates = await readCandidates(query, source)
  return { condition: failed.text, ...(candidates && { candidates: candidates.map(toJsonPrice) }) }
}

async function readCandidates(
  query: SearchQuery,
  { view, index, readPrices }: RefusalSource,
): Promise<readonly Price[] | undefined> {
  const rows = findRows(index, query)
  const order = new RowOrder(view.words)
  await forEachInTurns(rows.length, (i) => order.add(view.getId(rows[i]!), rows[i]!))
  const first = order.takeRows().take(MAX_CANDIDATES)
  return readPrices(Array.from(first, (row) => formatId(view.getId(row), view.words)))
}
