/** The value of a characteristic: an integer, a date (YYYY-MM-DD), or any other string. */
export type TermValue = string | number

/** A characteristic of a price. */
export interface CharValue {
  readonly char: string
  readonly value: TermValue
}

/** A price as it is imported, put and read. */
export interface Price {
  /** A UUID. */
  readonly id: string
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  /** No characteristic twice. */
  readonly charValues: readonly CharValue[]
  readonly value: number
  readonly currency?: string
  /** Chosen where several prices fit. */
  readonly default?: boolean
  /** The first and the last day on which it is valid (YYYY-MM-DD); without one, for ever. */
  readonly from?: string
  readonly to?: string
}

export const DEFAULT_CURRENCY = 'USD'

/** A price as it is read again. */
export function toStoredPrice({ id, currency = DEFAULT_CURRENCY, default: isDefault, ...rest }: Price): Price {
  return { id: id.toLowerCase(), ...rest, currency, ...(isDefault && { default: true }) }
}

/** The most characteristics a price can have, and conditions a query. */
export const MAX_CONDITIONS = 100
/** The longest name, value or id (code points). */
export const MAX_TEXT_LENGTH = 256
/** The most values of an `in` or `notIn`. */
export const MAX_CHOICES = 1_000
