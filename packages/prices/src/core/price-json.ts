import { parseAmount, type Amount } from './values/amount.ts'
import type { Price } from './price.ts'

// `JSON.parse` rounds a value with more digits than a double has, and drops the zeros of 1.10.

const VALUE_KEY = '"value":'
const NUMBER_AT = /\s*(-?\d[\d.eE+-]*)/y

/**
 * Parses the JSON of a price. A `value` that is not the usual form of a double becomes its source text.
 * @throws SyntaxError
 */
export function parsePriceJson(text: string): unknown {
  const price: unknown = JSON.parse(text)
  if (typeof (price as Partial<Price> | null)?.value !== 'number') return price
  const source = findValueSource(text) ?? readValueSource(text)
  return parseAmount(source) === (price as Price).value ? price : { ...(price as Price), value: source }
}

/**
 * Finds the source of the value without a second parser, which takes four times as long. Behind the last bracket no
 * `value` of a characteristic can follow, and within a text the quotes of `VALUE_KEY` would be escaped.
 */
function findValueSource(text: string): string | undefined {
  const at = text.lastIndexOf(VALUE_KEY)
  if (at < 0 || at < text.lastIndexOf(']')) return undefined
  NUMBER_AT.lastIndex = at + VALUE_KEY.length
  return NUMBER_AT.exec(text)?.[1]
}

function readValueSource(text: string): string {
  let found = ''
  JSON.parse(text, function read(this: unknown, key: string, value: unknown, context?: { source: string }) {
    // The last call is for the whole price, so the last value is that of the price itself.
    if (key === 'value' && typeof value === 'number' && !('char' in (this as object))) found = context!.source
    return value
  } as (this: unknown, key: string, value: unknown) => unknown)
  return found
}

/** JSON with functions that the types of TypeScript 5 lack (ECMAScript: JSON.parse source text access). */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown }

/** Returns a decimal that `JSON.stringify` writes as a number with the same digits. */
export const toJsonAmount = (amount: Amount): Amount =>
  typeof amount === 'string' ? (rawJSON(amount) as Amount) : amount

/** Returns an object from which `JSON.stringify` writes a `value` that is an exact decimal as a number. */
export const toJsonPrice = <P extends Partial<Pick<Price, 'value'>>>(price: P): P =>
  typeof price.value === 'string' ? { ...price, value: toJsonAmount(price.value) } : price

/** Returns the JSON of an object whose `value` may be an exact decimal. */
export const stringifyPrice = (price: Partial<Pick<Price, 'value'>>): string => JSON.stringify(toJsonPrice(price))
