import { isDate } from './moment.ts'

/** A range of integers, both ends included. It has at least one end. */
export interface RangeValue {
  readonly from?: number
  readonly to?: number
}

/** One value of a characteristic: an integer, a range of integers, a boolean, a date (YYYY-MM-DD), or any other string. */
export type TermValue = string | number | boolean | RangeValue

/** The type of the values of a characteristic. Ranges are of the type `integer`. */
export type CharType = 'string' | 'integer' | 'date' | 'boolean'
export const CHAR_TYPES: readonly CharType[] = ['string', 'integer', 'date', 'boolean']

/** Returns the type of a value; undefined for a value that no characteristic can have. */
export function getValueType(value: TermValue): CharType | undefined {
  if (typeof value === 'string') return isDate(value) ? 'date' : 'string'
  if (typeof value === 'boolean') return 'boolean'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : undefined
  const { from = 0, to = 0 } = value
  return Number.isSafeInteger(from) && Number.isSafeInteger(to) ? 'integer' : undefined
}

/** True if a characteristic of a type can have this value. A text that looks like a date is also a text. */
export const isOfType = (type: CharType, value: TermValue): boolean =>
  type === 'string' ? typeof value === 'string' : getValueType(value) === type

/** The detail of the error `TYPE_CONFLICT`. */
export const formatTypeConflict = (char: string, type: CharType): string => `${char} is of type ${type}`

export const isRange = (value: TermValue): value is RangeValue => typeof value === 'object'

const getLow = (value: number | RangeValue) => (typeof value === 'number' ? value : (value.from ?? -Infinity))
const getHigh = (value: number | RangeValue) => (typeof value === 'number' ? value : (value.to ?? Infinity))

/** True if a range contains an integer from `low` to `high`. */
export const overlaps = (range: RangeValue, low: number, high: number): boolean =>
  Math.max(getLow(range), low) <= Math.min(getHigh(range), high)

/**
 * Orders the values of a characteristic: integers and ranges by their ends, texts by code unit, which for dates is the
 * order of time, and false before true.
 */
export function compareValues(a: TermValue, b: TermValue): number {
  if (a === b) return 0
  if (!isRange(a) && !isRange(b)) return a < b ? -1 : 1
  const [one, other] = [a as number | RangeValue, b as number | RangeValue]
  return (
    compareEnds(getLow(one), getLow(other)) ||
    compareEnds(getHigh(one), getHigh(other)) ||
    Number(isRange(a)) - Number(isRange(b))
  )
}

const compareEnds = (a: number, b: number) => (a === b ? 0 : a < b ? -1 : 1)

/** Returns a value as text, a range as `10..99`, `10..` or `..99`. */
export const formatValue = (value: TermValue): string =>
  isRange(value) ? `${value.from ?? ''}..${value.to ?? ''}` : String(value)

const RANGE_PATTERN = /^(-?\d+)?\.\.(-?\d+)?$/

/** Parses a range that `formatValue` returned, or `..`, which has no end; undefined for any other text. */
export function parseRange(text: string): RangeValue | undefined {
  const [isARange, from, to] = RANGE_PATTERN.exec(text) ?? []
  if (isARange === undefined) return undefined
  return { ...(from !== undefined && { from: Number(from) }), ...(to !== undefined && { to: Number(to) }) }
}

/** Parses an integer or a range that `formatValue` returned; undefined for any other text. */
export function parseInteger(text: string): number | RangeValue | undefined {
  const value = parseRange(text) ?? Number(text)
  return getValueType(value) === 'integer' ? value : undefined
}
