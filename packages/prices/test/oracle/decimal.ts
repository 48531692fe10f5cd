/** An exact decimal: `digits * 10 ** exponent`. */
interface Decimal {
  readonly digits: bigint
  readonly exponent: number
}

const NUMBER_PATTERN = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const MAX_DIGITS = 34

function parseDecimal(text: string): Decimal {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER_PATTERN.exec(text)!
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length }
}

/** Compares the texts of two storable decimals by their values. */
export function compareDecimals(first: string, second: string): number {
  const [a, b] = [parseDecimal(first), parseDecimal(second)]
  const exponent = Math.min(a.exponent, b.exponent)
  const scale = (one: Decimal) => one.digits * 10n ** BigInt(one.exponent - exponent)
  const difference = scale(a) - scale(b)
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** Returns the same text for equal decimals. */
export function normalizeDecimal(text: string): string {
  const { digits, exponent } = parseDecimal(text)
  const [, significant, zeros] = /^(.*?)(0*)$/.exec(String(digits))!
  return significant === '' ? '0' : `${significant}e${exponent + zeros!.length}`
}

/** True if a text is a JSON number that a price can have: of at most 34 digits, and in the range of a double. */
export function isStorable(text: string): boolean {
  const parts = NUMBER_PATTERN.exec(text)
  if (!parts) return false
  const digits = `${parts[2]}${parts[3] ?? ''}`.replace(/^0+/, '')
  const number = Number(text)
  return digits.length <= MAX_DIGITS && Number.isFinite(number) && (number !== 0 || digits === '')
}
