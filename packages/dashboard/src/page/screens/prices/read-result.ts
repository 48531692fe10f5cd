import { ServiceError } from '@influencer-stats/runtime/service-error'
import { requestJson, requestPrices } from '../../api.ts'
import {
  findFailedCondition,
  listConditions,
  removeCondition,
  type PriceCondition,
  type SearchStep,
} from '../../core/prices/conditions.ts'
import { parseExactJson } from '../../core/prices/exact-json.ts'
import type { FullPrice } from '../../core/prices/price-fields.ts'
import { toConditions, type PriceQuery } from '../../core/prices/price-query.ts'
import { LIST_KEYS, requestFacets } from './read-facets.ts'

const SEARCH_PATH = '/v1/search/bitmap/prices'
/** Maximum number of prices in a table. */
export const MAX_CANDIDATES = 10

/** The outcome of a search by the selection. */
export interface PriceResult {
  /** The price that was found. */
  readonly price?: FullPrice | undefined
  /** Several prices that match, or that match without `failed`. */
  readonly candidates: readonly FullPrice[]
  /** The condition that left no price. */
  readonly failed?: PriceCondition | undefined
  /** How many prices each condition left. */
  readonly steps: readonly SearchStep[]
  /** The price that the user chose among several; null if it no longer exists. */
  readonly chosen?: FullPrice | null
}

interface SearchReply {
  readonly id?: string
  readonly explain: readonly SearchStep[]
  readonly candidates?: readonly FullPrice[]
}

/** Reads a price; null if it does not exist. @throws ServiceError */
async function readPrice(id: string): Promise<FullPrice | null> {
  try {
    return await requestPrices<FullPrice>('GET', `/prices/${encodeURIComponent(id)}`)
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null
    throw error
  }
}

const parseLines = (text: string) => text.split('\n').filter(Boolean).map(parseExactJson)

/** Reads the first prices that match. @throws ServiceError */
async function readMatches(query: PriceQuery, today: string): Promise<FullPrice[]> {
  const path = `/api/prices${SEARCH_PATH}?all=true&limit=${MAX_CANDIDATES}`
  const found = await requestJson<{ id: string }[]>('POST', path, toConditions(query, today), undefined, parseLines)
  const prices = await Promise.all(found.map(({ id }) => readPrice(id)))
  return prices.filter((one) => one !== null)
}

/** Explains with the counts of facets why no price matches a selection without an offering, a group or a spec. */
async function explainMiss(query: PriceQuery, today: string): Promise<PriceResult> {
  const conditions = listConditions(query, today)
  const steps = await Promise.all(
    conditions.map(async ({ key }, i) => {
      const later = conditions.slice(i + 1)
      const part = later.reduce((rest, condition) => removeCondition(rest, condition.key), query)
      const { count } = await requestFacets(part, today, { facet: 'specs', limit: '1' })
      return { condition: key, left: count }
    }),
  )
  const failed = findFailedCondition(steps, conditions)
  const candidates = failed ? await readMatches(removeCondition(query, failed.key), today) : []
  return { candidates, failed, steps }
}

/** Searches with an offering, a group and a spec. @param count number of prices that match: more than one have a default */
async function searchPrice(query: PriceQuery, count: number, today: string): Promise<PriceResult> {
  const body = { ...toConditions(query, today), explain: true }
  const { id, explain, candidates = [] } = await requestPrices<SearchReply>('POST', SEARCH_PATH, body)
  if (id !== undefined) {
    const [price, matches] = await Promise.all([readPrice(id), count > 1 ? readMatches(query, today) : []])
    return { price: price ?? undefined, candidates: matches, steps: explain }
  }
  const failed = findFailedCondition(explain, listConditions(query, today))
  return { candidates, failed, steps: explain }
}

/**
 * Reads the outcome of a selection.
 * @param count number of prices that match
 * @returns undefined if more must be chosen
 * @throws ServiceError
 */
async function readOutcome(query: PriceQuery, count: number, today: string): Promise<PriceResult | undefined> {
  if (LIST_KEYS.every((key) => query[key])) return searchPrice(query, count, today)
  if (count === 0) return explainMiss(query, today)
  if (count <= MAX_CANDIDATES) return { candidates: await readMatches(query, today), steps: [] }
  return undefined
}

/** `readOutcome`, and the price that the user chose. */
export async function readResult(query: PriceQuery, count: number, today: string): Promise<PriceResult | undefined> {
  const [outcome, chosen] = await Promise.all([
    readOutcome(query, count, today),
    query.price ? readPrice(query.price) : undefined,
  ])
  return chosen === undefined ? outcome : { candidates: [], steps: [], ...outcome, chosen }
}
