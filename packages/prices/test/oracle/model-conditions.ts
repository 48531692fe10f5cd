import { compareDecimals } from './decimal.ts'
import { listItems, type ModelPrice, type Prices } from './model-price.ts'
import type { Code } from './model-reply.ts'
import { parseMoment } from './moments.ts'
import { getType, getUnit, isBetween, isEqual, isOfType, parseQuantity, toItems, type Item } from './model-values.ts'

/** A condition on a characteristic. */
export type ModelCondition =
  | { readonly char: string; readonly op: 'equals' | 'not'; readonly value: Item }
  | { readonly char: string; readonly op: 'in' | 'notIn' | 'between'; readonly value: readonly Item[] }

/** The conditions of a search; absent ones restrict nothing. */
export interface ModelQuery {
  readonly offeringId?: string
  readonly groupId?: string
  readonly priceSpecId?: string
  readonly charValues: readonly ModelCondition[]
  /** A date, a time with a zone, or `now`. */
  readonly at?: string
  readonly currency?: string
  /** Decimals as written. */
  readonly minValue?: string
  readonly maxValue?: string
}

/** One condition of a query. */
export interface ConditionTest {
  /** As `explain` describes it. */
  readonly name: string
  /** The code of the refusal of a condition that cannot be tested. */
  readonly code?: Code
  /** The list of facets that it chooses from: `offeringId`, `groupId`, `priceSpecId` or a characteristic. */
  readonly facet: string | undefined
  matches(price: ModelPrice): boolean
}

/** The name of a list of facets of a characteristic. */
export const toCharFacet = (char: string): string => `char ${char}`

const NAME_FIELDS = ['offeringId', 'groupId', 'priceSpecId'] as const
const CODE_BY_FIELD = {
  offeringId: 'OFFERING_NOT_FOUND',
  groupId: 'GROUP_NOT_FOUND',
  priceSpecId: 'SPEC_NOT_FOUND',
} as const

/** Returns the tests of a query in their order. */
export function listTests(prices: Prices, query: ModelQuery): readonly ConditionTest[] {
  const all = [...prices.values()]
  const tests: ConditionTest[] = []
  for (const field of NAME_FIELDS) {
    const name = query[field]
    if (name === undefined) continue
    const matches = (price: ModelPrice) => price[field] === name
    const code = all.some(matches) ? {} : { code: CODE_BY_FIELD[field] }
    tests.push({ name: `${field} ${name}`, facet: field, matches, ...code })
  }
  tests.push(...query.charValues.map((condition) => createCharTest(all, condition)))
  return [...tests, ...createOtherTests(query)]
}

/** Returns the tests of a query in their order, or the code of its refusal. */
export function createTests(prices: Prices, query: ModelQuery): readonly ConditionTest[] | Code {
  const tests = listTests(prices, query)
  return tests.find(({ code }) => code !== undefined)?.code ?? tests
}

function createOtherTests({ at, currency, minValue, maxValue }: ModelQuery): ConditionTest[] {
  const tests: ConditionTest[] = []
  const add = (name: string, matches: ConditionTest['matches']) => tests.push({ name, facet: undefined, matches })
  if (at !== undefined) {
    const minute = at === 'now' ? Date.now() / 60_000 : parseMoment(at)!.minute
    add(`at ${at}`, ({ from, to }) => from <= minute && minute < to)
  }
  if (currency !== undefined) add(`currency ${currency}`, (price) => price.currency === currency)
  if (minValue !== undefined) add(`minValue ${minValue}`, ({ value }) => compareDecimals(minValue, value) <= 0)
  if (maxValue !== undefined) add(`maxValue ${maxValue}`, ({ value }) => compareDecimals(value, maxValue) <= 0)
  return tests
}

function createCharTest(all: readonly ModelPrice[], condition: ModelCondition): ConditionTest {
  const { char, op, value } = condition
  const name = `${char} ${op} ${JSON.stringify(value)}`
  const facet = toCharFacet(char)
  const refuse = (code: Code): ConditionTest => ({ name, facet, code, matches: () => false })
  const items = listItems(all, char)
  const type = getType(items)
  if (!type) return refuse('CHARACTERISTIC_NOT_FOUND')
  const wanted = Array.isArray(value) ? (value as readonly Item[]) : [value as Item]
  const unit = type === 'string' && op === 'between' ? getUnit(items as string[]) : undefined
  const isAccepted = (one: Item) => (unit === undefined ? isOfType(type, one) : isQuantityOf(unit, one))
  const isRefused = op === 'between' && (type === 'boolean' || (type === 'string' && unit === undefined))
  if (isRefused || !wanted.every(isAccepted)) return refuse('VALUE_TYPE')
  if (op === 'equals' && !items.some((item) => isEqual(item, wanted[0]!))) return refuse('VALUE_NOT_FOUND')
  const isWanted = (item: Item) =>
    op === 'between'
      ? isBetween(item, wanted[0]!, wanted[1]!, unit !== undefined)
      : wanted.some((one) => isEqual(item, one))
  const isNegative = op === 'not' || op === 'notIn'
  return {
    name,
    facet,
    matches({ charValues }) {
      const own = charValues.find((one) => one.char === char)
      return own !== undefined && toItems(own.value).some(isWanted) !== isNegative
    },
  }
}

function isQuantityOf(unit: string, value: Item): boolean {
  const quantity = typeof value === 'object' ? undefined : parseQuantity(String(value))
  return quantity !== undefined && (quantity.unit === unit || quantity.unit === '')
}

/** Returns the prices that match a query, in the order in which they were added, or the code of its refusal. */
export function matchAll(prices: Prices, query: ModelQuery): ModelPrice[] | Code {
  const tests = createTests(prices, query)
  return typeof tests === 'string'
    ? tests
    : [...prices.values()].filter((price) => tests.every((test) => test.matches(price)))
}
