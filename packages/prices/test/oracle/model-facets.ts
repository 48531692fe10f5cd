import { compareDecimals } from './decimal.ts'
import { JsonNumber, type Json, type JsonObject } from './json-text.ts'
import { createTests, toCharFacet, type ModelQuery } from './model-conditions.ts'
import { listItems, valueToJson, type ModelPrice, type Prices } from './model-price.ts'
import { toRefusal, type ModelReply } from './model-reply.ts'
import { getType, getUnit, isRange, parseQuantity, type Item, type ModelType } from './model-values.ts'

/** A query of facets. Its lists are whole: clients get them in pages. */
export interface FacetQuery extends ModelQuery {
  readonly facet?: FacetName | 'characteristics'
  readonly char?: string
  /** A part of the names and values. */
  readonly part?: string
  readonly sort?: 'name' | 'count'
  readonly range?: boolean
}

const FACETS = { offerings: 'offeringId', groups: 'groupId', specs: 'priceSpecId' } as const
type FacetName = keyof typeof FACETS
const FACET_NAMES = Object.keys(FACETS) as FacetName[]

interface ValueCount {
  readonly value: Item
  readonly count: number
}

const toCount = (count: number) => new JsonNumber(String(count))
/** Texts that differ in case or width alone are equal. */
const fold = (text: string) => text.normalize('NFKC').toUpperCase().normalize('NFKC')
const compareTexts = (a: string, b: string) => (a < b ? -1 : Number(a > b))

function compareItems(a: Item, b: Item, unit: string | undefined): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (unit !== undefined) {
    const [first, second] = [a, b].map((one) => parseQuantity(String(one))!.number)
    return compareDecimals(first!, second!) || compareTexts(String(a), String(b))
  }
  if (isRange(a) || isRange(b)) return compareRanges(a, b)
  return compareTexts(String(a), String(b))
}

const getEnds = (item: Item): Item[] => (isRange(item) ? [item.from ?? -Infinity, item.to ?? Infinity] : [item, item])

function compareRanges(a: Item, b: Item): number {
  const [first, last] = getEnds(a)
  const [otherFirst, otherLast] = getEnds(b)
  const compare = (one: unknown, other: unknown) => (one === other ? 0 : Number(one) - Number(other))
  return compare(first, otherFirst) || compare(last, otherLast) || Number(isRange(a)) - Number(isRange(b))
}

/** The counts of one list of values. */
function countValues(items: readonly Item[]): ValueCount[] {
  const counts = new Map<string, ValueCount>()
  for (const value of items) {
    const key = JSON.stringify(valueToJson(value))
    counts.set(key, { value, count: 1 + (counts.get(key)?.count ?? 0) })
  }
  return [...counts.values()]
}

/** Answers a query of facets; its lists have all values. */
export function countFacets(prices: Prices, query: FacetQuery): ModelReply {
  const tests = createTests(prices, query)
  if (typeof tests === 'string') return toRefusal(tests)
  const all = [...prices.values()]
  if (query.char !== undefined && listItems(all, query.char).length === 0) return toRefusal('CHARACTERISTIC_NOT_FOUND')
  const { facet: only, char: onlyChar, part = '', sort = 'name' } = query
  const contains = (text: unknown) => fold(String(text)).includes(fold(part))
  /** Returns the prices that match all conditions except those of one list. */
  const matchExcept = (facet?: string) =>
    all.filter((price) => tests.every((test) => test.facet === facet || test.matches(price)))
  const toList = (counts: readonly ValueCount[], unit?: string): Json =>
    counts
      .toSorted((a, b) => (sort === 'count' ? b.count - a.count : 0) || compareItems(a.value, b.value, unit))
      .map(({ value, count }) => ({ value: valueToJson(value), count: toCount(count) }))

  const names = FACET_NAMES.filter((name) => onlyChar === undefined && (only ?? name) === name)
  const nameLists = names.map((name) => {
    const items = matchExcept(FACETS[name]).map((price) => price[FACETS[name]])
    return [name, toList(countValues(items.filter(contains)))] as const
  })
  const matches = all.filter((price) => tests.every((test) => test.matches(price)))
  const toChar = (char: string): Json[] => {
    const items = listItems(all, char)
    const unit = getListUnit(items)
    const counts = countValues(listItems(matchExcept(toCharFacet(char)), char))
    const named = counts.filter(({ value }) => contains(toText(value)))
    const values = named.length === 0 && contains(char) ? counts : named
    if (values.length === 0 && onlyChar === undefined) return []
    const type = getType(items)!
    return [{ char, type, ...getBounds(type, counts, unit), values: toList(values, unit) }]
  }
  const hasChars = onlyChar !== undefined || (only ?? 'characteristics') === 'characteristics'
  const body: JsonObject = {
    count: toCount(matches.length),
    ...Object.fromEntries(nameLists.map(([name, values]) => [name, { values }])),
    ...(query.range && { range: toRanges(matches) }),
    ...(hasChars && { characteristics: { values: listChars(all, onlyChar).flatMap(toChar) } }),
  }
  return { status: 200, body }
}

const listChars = (all: readonly ModelPrice[], only: string | undefined): string[] =>
  only === undefined
    ? [...new Set(all.flatMap(({ charValues }) => charValues.map(({ char }) => char)))].toSorted(compareTexts)
    : [only]

const toText = (item: Item) => (isRange(item) ? `${item.from ?? ''}..${item.to ?? ''}` : String(item))
const getListUnit = (items: readonly Item[]) => (getType(items) === 'string' ? getUnit(items as string[]) : undefined)

/** Returns the least and the greatest value of a list that has an order. */
function getBounds(type: ModelType, counts: readonly ValueCount[], unit: string | undefined): JsonObject {
  const items = counts.map(({ value }) => value)
  const hasOrder = type === 'string' ? unit !== undefined : type !== 'boolean'
  if (!hasOrder || items.length === 0) return {}
  const sorted = items.flatMap(getEnds).toSorted((a, b) => compareItems(a, b, unit))
  const [min, max] = [sorted[0]!, sorted.at(-1)!]
  return {
    ...(unit && { unit }),
    ...(min !== -Infinity && { min: valueToJson(min) }),
    ...(max !== Infinity && { max: valueToJson(max) }),
  }
}

/** Returns the least and the greatest value by currency. */
function toRanges(prices: readonly ModelPrice[]): Json {
  const groups = Map.groupBy(prices, ({ currency }) => currency)
  return [...groups.keys()].toSorted(compareTexts).map((currency) => {
    const values = groups
      .get(currency)!
      .map(({ value }) => value)
      .toSorted(compareDecimals)
    const count = toCount(values.length)
    return { currency, min: new JsonNumber(values[0]!), max: new JsonNumber(values.at(-1)!), count }
  })
}
