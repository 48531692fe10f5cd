import { text } from '../../texts/texts.ts'
import { ANY_TIME, toConditions, type CharValue, type PriceQuery } from './price-query.ts'
import { describeValue, formatTime, isRange, type FullPrice, type PriceFormats } from './price-fields.ts'
import { findNearestTime } from './price-time.ts'

const CHAR_PREFIX = 'char.'

/** Identifies a condition of a query. */
export type ConditionKey =
  | 'offeringId'
  | 'groupId'
  | 'priceSpecId'
  | 'at'
  | 'currency'
  | `${typeof CHAR_PREFIX}${string}`

export const toCharKey = (char: string): ConditionKey => `${CHAR_PREFIX}${char}`
const readCharKey = (key: ConditionKey) => (key.startsWith(CHAR_PREFIX) ? key.slice(CHAR_PREFIX.length) : undefined)

export interface PriceCondition {
  readonly key: ConditionKey
  readonly value: CharValue
}

/** The conditions of a query in the order in which prices explains them. */
export function listConditions(query: PriceQuery, today: string): PriceCondition[] {
  const { charValues, at, currency, ...names } = toConditions(query, today)
  return [
    ...(['offeringId', 'groupId', 'priceSpecId'] as const).map((key) => ({ key, value: names[key] })),
    ...charValues.map(({ char, value }) => ({ key: toCharKey(char), value })),
    { key: 'at' as const, value: at },
    { key: 'currency' as const, value: currency },
  ].filter((one): one is PriceCondition => one.value !== undefined)
}

/** The same query without a condition. */
export function removeCondition(query: PriceQuery, key: ConditionKey): PriceQuery {
  const char = readCharKey(key)
  if (char === undefined) return { ...query, [key]: key === 'at' ? ANY_TIME : '' }
  const { [char]: _removed, ...chars } = query.chars
  return { ...query, chars }
}

/** The same query with another value of a condition. */
export function setCondition(query: PriceQuery, { key, value }: PriceCondition): PriceQuery {
  const char = readCharKey(key)
  return char === undefined ? { ...query, [key]: value } : { ...query, chars: { ...query.chars, [char]: value } }
}

/** The same query with the value of a price in a condition, so that the condition accepts this price. */
export function replaceCondition(query: PriceQuery, key: ConditionKey, price: FullPrice, today: string): PriceQuery {
  const char = readCharKey(key)
  if (key === 'at') return { ...query, at: findNearestTime(price, query.at || today) }
  if (char === undefined) return { ...query, [key]: price[key as keyof FullPrice] ?? '' }
  const stored = price.charValues.find((one) => one.char === char)?.value
  const first = Array.isArray(stored) ? stored[0] : stored
  const value: CharValue | undefined = isRange(first) ? (first.from ?? first.to) : first
  return value === undefined ? removeCondition(query, key) : setCondition(query, { key, value })
}

const TITLES: Readonly<Record<string, string>> = {
  offeringId: text('price.offering'),
  groupId: text('price.group'),
  priceSpecId: text('price.spec'),
  at: text('price.validOn'),
  currency: text('price.currency'),
}

/** The name of a list or field: Offering, Term. */
export const getConditionTitle = (key: ConditionKey): string => readCharKey(key) ?? TITLES[key]!

/** A condition in words: Term 12 months. */
export const describeCondition = ({ key, value }: PriceCondition, formats: Omit<PriceFormats, 'amount'>): string =>
  text('price.condition', {
    title: getConditionTitle(key),
    value: key === 'at' ? formatTime(String(value), formats) : describeValue(value),
  })

/** A step of a search, and how many prices it left. */
export interface SearchStep {
  readonly condition: string
  readonly left: number
}

/**
 * The steps of a search in words.
 * @param conditions those of the search. If their number differs, the words are those of prices
 */
export const describeSteps = (
  steps: readonly SearchStep[],
  conditions: readonly PriceCondition[],
  formats: Omit<PriceFormats, 'amount'>,
): SearchStep[] =>
  steps.map(({ condition, left }, i) => ({
    condition: steps.length === conditions.length ? describeCondition(conditions[i]!, formats) : condition,
    left,
  }))

/** The first condition that left no price. */
export const findFailedCondition = (
  steps: readonly SearchStep[],
  conditions: readonly PriceCondition[],
): PriceCondition | undefined => conditions[steps.findIndex(({ left }) => left === 0)]
