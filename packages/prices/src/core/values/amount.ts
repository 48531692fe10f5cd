/**
 * An exact decimal: a number if its text is the usual JSON form of that double, otherwise the text as it was written
 * (`1.10`, `9007199254740993`, `1E3`).
 */
export type Amount = number | string

/** Maximum number of significant digits, as in decimal128 of IEEE 754. */
export const MAX_DIGITS = 34

/** The text of a JSON number. */
export const NUMBER_PATTERN = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const PARTS_PATTERN = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * Reads the text of a JSON number.
 * @returns undefined if it is not one, has more than `MAX_DIGITS` significant digits, or is beyond the range of a double
 */
export function parseAmount(text: string): Amount | undefined {
  if (!NUMBER_PATTERN.test(text)) return undefined
  const number = Number(text)
  if (String(number) === text) return number
  const digits = text
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
  const isInRange = Number.isFinite(number) && (number !== 0 || digits === '')
  return isInRange && digits.length <= MAX_DIGITS ? text : undefined
}

/** Returns the decimal as it was written. */
export const formatAmount = (amount: Amount): string => String(amount)

/** The number `coefficient` divided by 10 to the power of `scale`. */
interface Decimal {
  readonly coefficient: bigint
  readonly scale: number
}

function toDecimal(amount: Amount): Decimal {
  const [, sign, whole, fraction = '', exponent = '0'] = PARTS_PATTERN.exec(formatAmount(amount))!
  return { coefficient: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(exponent) }
}

/** Returns a text that equal decimals share: 1.10 and 1.1. */
export function normalizeAmount(amount: Amount): string {
  let { coefficient, scale } = toDecimal(amount)
  for (; coefficient !== 0n && coefficient % 10n === 0n; scale--) coefficient /= 10n
  return `${coefficient}e${coefficient === 0n ? 0 : -scale}`
}

/** Compares two decimals by size, exactly: 1.10 equals 1.1. Returns a negative number, 0, or a positive number. */
export function compareAmounts(a: Amount, b: Amount): number {
  const difference = Number(a) - Number(b)
  // Two doubles, or decimals that differ as doubles: rounding keeps the order.
  if (difference !== 0 || (typeof a === 'number' && typeof b === 'number')) return difference
  const [one, other] = [toDecimal(a), toDecimal(b)]
  const scale = Math.max(one.scale, other.scale)
  const align = (decimal: Decimal) => decimal.coefficient * 10n ** BigInt(scale - decimal.scale)
  const exact = align(one) - align(other)
  return exact === 0n ? 0 : exact < 0n ? -1 : 1
}
