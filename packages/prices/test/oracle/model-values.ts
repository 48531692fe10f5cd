import { compareDecimals } from './decimal.ts'
import { isDate } from './moments.ts'

/** A range of integers; both ends are included. */
export interface IntegerRange {
  readonly from?: number
  readonly to?: number
}
/** One value of a characteristic. */
export type Item = string | number | boolean | IntegerRange
/** The value of a characteristic: one or a list. */
export type ModelCharValue = Item | readonly Item[]
export type ModelType = 'string' | 'integer' | 'date' | 'boolean'

export const isRange = (item: Item): item is IntegerRange => typeof item === 'object'
export const toItems = (value: ModelCharValue): readonly Item[] => (Array.isArray(value) ? value : [value as Item])

export function isSameItem(a: Item, b: Item): boolean {
  if (isRange(a) && isRange(b)) return a.from === b.from && a.to === b.to
  return a === b
}

/** True if a price with this item matches a search for `wanted`. */
export const isEqual = (item: Item, wanted: Item): boolean =>
  isRange(item) && typeof wanted === 'number'
    ? (item.from ?? -Infinity) <= wanted && wanted <= (item.to ?? Infinity)
    : isSameItem(item, wanted)

/** Returns the type of a characteristic with these items, of which there is at least one. */
export function getType(items: readonly Item[]): ModelType | undefined {
  const first = items[0]
  if (first === undefined) return undefined
  if (typeof first === 'boolean') return 'boolean'
  if (typeof first !== 'string') return 'integer'
  return items.every((item) => isDate(String(item))) ? 'date' : 'string'
}

/** True if a characteristic of this type can have an item. */
export function isOfType(type: ModelType, item: Item): boolean {
  const found = getType([item])!
  return found === type || (type === 'string' && found === 'date')
}

const QUANTITY_PATTERN = /^(-?(?:0|[1-9]\d*)(?:\.\d+)?) ?([^\d\s.,-].*)?$/

interface Quantity {
  readonly number: string
  readonly unit: string
}

export function parseQuantity(text: string): Quantity | undefined {
  const parts = QUANTITY_PATTERN.exec(text)
  return parts ? { number: parts[1]!, unit: parts[2] ?? '' } : undefined
}

/** Returns the unit that all texts have; undefined if they are not quantities of one unit. */
export function getUnit(texts: readonly string[]): string | undefined {
  const [unit, ...others] = new Set(texts.map((text) => parseQuantity(text)?.unit))
  return others.length === 0 ? unit : undefined
}

/** True if a value is between two others of its type, or overlaps them. */
export function isBetween(item: Item, low: Item, high: Item, isQuantity: boolean): boolean {
  if (isRange(item))
    return low <= high && (item.from ?? -Infinity) <= (high as number) && (low as number) <= (item.to ?? Infinity)
  if (!isQuantity) return low <= item && item <= high
  const [number, from, to] = [item, low, high].map((one) => parseQuantity(String(one))!.number)
  return compareDecimals(from!, number!) <= 0 && compareDecimals(number!, to!) <= 0
}
