import { formatEnd, formatStart, parseEnd, parseMoment } from './values/moment.ts'
import type { Amount } from './values/amount.ts'
import type { TermValue } from './values/term-value.ts'
import { normalizeId } from './price-id.ts'

/** A characteristic of a price, with one value or a list of different values. */
export interface CharValue {
  readonly char: string
  readonly value: TermValue | readonly TermValue[]
}

/** Returns the values of a characteristic. */
export const listValues = (value: CharValue['value']): readonly TermValue[] => (isList(value) ? value : [value])

const isList = (value: CharValue['value']): value is readonly TermValue[] => Array.isArray(value)

/** A price as clients import, put and read it. */
export interface Price {
  /** A text of 1 to 128 bytes. */
  readonly id: string
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  /** Each characteristic occurs at most once. */
  readonly charValues: readonly CharValue[]
  readonly value: Amount
  readonly currency?: string
  /** True if this price is preferred when several prices match. */
  readonly default?: boolean
  /**
   * The validity: a date is a whole day in UTC. A time with a zone is the first minute at which the price is valid, or at
   * which it is no longer valid. A missing one means no limit.
   */
  readonly from?: string
  readonly to?: string
}

export const DEFAULT_CURRENCY = 'USD'

/** A price whose value is a double. */
export interface SimplePrice extends Price {
  readonly value: number
}

/** Returns a price in the form in which clients read it. */
export function toStoredPrice({ id, currency = DEFAULT_CURRENCY, default: isDefault, ...fields }: Price): Price {
  const { charValues, value: amount, from, to, ...rest } = fields
  return {
    id: normalizeId(id),
    ...rest,
    charValues: charValues.map(({ char, value }) => ({ char, value: simplify(value) })),
    value: amount,
    currency,
    ...(isDefault && { default: true }),
    ...(from !== undefined && { from: formatStart(parseMoment(from)!) }),
    ...(to !== undefined && { to: formatEnd(parseEnd(to)!) }),
  }
}

/** A list of one value is this value. */
const simplify = (value: CharValue['value']) => (isList(value) && value.length === 1 ? value[0]! : value)

/** A JSON merge patch (RFC 7396) of a price: null removes a field, and `charValues` replaces all characteristics. */
export type PricePatch = { readonly [Field in keyof Price]?: Price[Field] | null }

export const patchPrice = (price: Price, patch: PricePatch): Price =>
  Object.fromEntries(Object.entries({ ...price, ...patch }).filter(([, value]) => value !== null)) as unknown as Price

/** Maximum number of characteristics of a price, and of conditions of a query. */
export const MAX_CONDITIONS = 100
/** Maximum length of a name, value or id (code points). */
export const MAX_TEXT_LENGTH = 256
/** Maximum number of values of a list. */
export const MAX_LIST_VALUES = 100
/** Maximum number of values of an `in` or `notIn`. */
export const MAX_CHOICES = 1_000
