import { compareDecimals } from './decimal.ts'
import { JsonNumber, type Json, type JsonObject } from './json-text.ts'
import { createTests, listTests, matchAll, type ConditionTest, type ModelQuery } from './model-conditions.ts'
import { compareIds, normalizeId, toAnswer, toJson, type ModelPrice, type Prices } from './model-price.ts'
import { toRefusal, type Code, type ModelReply } from './model-reply.ts'

const MAX_CANDIDATES = 10

const byId = (a: ModelPrice, b: ModelPrice) => compareIds(a.id, b.id)
const takeFirst = (prices: readonly ModelPrice[]) => prices.toSorted(byId).slice(0, MAX_CANDIDATES)
const toCandidates = (prices: readonly ModelPrice[]): Json => takeFirst(prices).map(toJson)

/** Returns the default price with the highest number of characteristics, the latest start, and the first one added. */
const findDefault = (matches: readonly ModelPrice[]): ModelPrice | undefined =>
  matches.filter(({ isDefault }) => isDefault).toSorted(compareDefaults)[0]

function compareDefaults(a: ModelPrice, b: ModelPrice): number {
  return b.charValues.length - a.charValues.length || (a.from === b.from ? 0 : b.from - a.from)
}

/** The reply to a search for one price, without its explanation. */
export interface SearchReply extends ModelReply {
  /** The condition that left no price. */
  readonly condition?: string
  readonly candidates?: Json
  readonly differences?: Json
}

const FIELDS = ['offeringId', 'groupId', 'priceSpecId', 'value', 'currency', 'default', 'from', 'to']

/** Returns the names of the fields and characteristics in which prices differ. */
function listDifferences(prices: readonly ModelPrice[]): string[] {
  const objects = prices.map(toJson)
  const chars = [...new Set(prices.flatMap(({ charValues }) => charValues.map(({ char }) => char)))].sort()
  const differs = (get: (price: JsonObject, i: number) => unknown) =>
    new Set(objects.map((price, i) => JSON.stringify(get(price, i)))).size > 1
  return [
    ...FIELDS.filter((name) => differs((price) => price[name])),
    ...chars.filter((char) => differs((_, i) => prices[i]!.charValues.find((one) => one.char === char)?.value)),
  ]
}

/** Adds the condition of a refusal, and the prices that match all others. */
function describe(code: Code, failing: ConditionTest, all: readonly ModelPrice[], tests: readonly ConditionTest[]) {
  const others = all.filter((price) => tests.every((test) => test === failing || test.matches(price)))
  return { ...toRefusal(code), condition: failing.name, candidates: toCandidates(others) }
}

/** Refuses a search because of its conditions. Only a single unknown name or value is described. */
function refuseConditions(code: Code, all: readonly ModelPrice[], tests: readonly ConditionTest[]): SearchReply {
  const [failing, ...others] = tests.filter((test) => test.code !== undefined)
  const isDescribed = others.length === 0 && code.endsWith('_NOT_FOUND') && code !== 'OFFERING_NOT_FOUND'
  return isDescribed ? describe(code, failing!, all, tests) : toRefusal(code)
}

function refuseMiss(all: readonly ModelPrice[], tests: readonly ConditionTest[]): SearchReply {
  let left = all
  const failing = tests.find((test) => (left = left.filter((price) => test.matches(price))).length === 0)!
  return describe('PRICE_NOT_FOUND', failing, all, tests)
}

/** Answers a search for one price. */
export function searchOne(prices: Prices, query: ModelQuery): SearchReply {
  const all = [...prices.values()]
  const tests = listTests(prices, query)
  const code = tests.find((test) => test.code !== undefined)?.code
  if (code) return refuseConditions(code, all, tests)
  const matches = all.filter((price) => tests.every((test) => test.matches(price)))
  if (matches.length === 0) return refuseMiss(all, tests)
  const found = matches.length === 1 ? matches[0] : findDefault(matches)
  if (found) return { status: 200, body: toAnswer(found) }
  const candidates = toCandidates(matches)
  return { ...toRefusal('PRICES_AMBIGUOUS'), candidates, differences: listDifferences(takeFirst(matches)) }
}

/** Returns how many prices remain after each condition; undefined if the search is refused. */
export function explain(prices: Prices, query: ModelQuery): Json | undefined {
  const tests = createTests(prices, query)
  if (typeof tests === 'string') return undefined
  let left = [...prices.values()]
  return tests.map((test) => {
    left = left.filter((price) => test.matches(price))
    return { condition: test.name, left: new JsonNumber(String(left.length)) }
  })
}

/** The order and the part of the prices that match. */
export interface AllOptions {
  readonly sort?: 'value' | '-value'
  readonly limit?: number
  readonly after?: string
  readonly afterValue?: string
}

/** Answers a search for all prices. @returns the lines, or the refusal */
export function searchAll(prices: Prices, query: ModelQuery, options: AllOptions): ModelReply {
  const matches = matchAll(prices, query)
  if (!Array.isArray(matches)) return toRefusal(matches)
  return { status: 200, body: sortPrices(matches, options).map(toAnswer) }
}

/** Returns the part of the prices that the options describe. */
export function sortPrices(
  prices: readonly ModelPrice[],
  { sort, limit = Infinity, after, afterValue }: AllOptions,
): ModelPrice[] {
  const sign = sort === '-value' ? -1 : 1
  type Line = Pick<ModelPrice, 'id' | 'value'>
  const compare = (a: Line, b: Line) => (sort ? sign * compareDecimals(a.value, b.value) : 0) || compareIds(a.id, b.id)
  const last = after === undefined ? undefined : { id: normalizeId(after), value: afterValue ?? '0' }
  return prices
    .toSorted(compare)
    .filter((price) => !last || compare(price, last) > 0)
    .slice(0, limit)
}
