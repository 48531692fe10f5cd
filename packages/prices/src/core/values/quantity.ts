import type { Amount } from './amount.ts'

/** A decimal with a unit, as a text such as `10 Mbps`. */
export interface Quantity {
  readonly amount: Amount
  /** The text after the number, without the space between them; empty if there is none. */
  readonly unit: string
}

// The unit does not begin like a part of a number, so that neither `2026-01-31` nor `1.2.3` is a quantity.
const QUANTITY_PATTERN = /^(-?(?:0|[1-9]\d*)(?:\.\d+)?) ?([^\d\s.,-].*)?$/

/** Parses the text of a quantity, of any number of digits. Returns undefined for any other text. */
export function parseQuantity(text: string): Quantity | undefined {
  const [, digits, unit = ''] = QUANTITY_PATTERN.exec(text) ?? []
  if (digits === undefined) return undefined
  const number = Number(digits)
  return { amount: String(number) === digits ? number : digits, unit }
}
