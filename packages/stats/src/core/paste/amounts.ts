import { CURRENCIES } from '../campaign.ts'

export interface Amount {
  readonly value: number
  /** An ISO 4217 code, if the text states a currency. */
  readonly currency?: string
}

const MAX_LENGTH = 40
const SYMBOLS: Readonly<Record<string, string>> = {
  '€': 'EUR',
  EURO: 'EUR',
  $: 'USD',
  US$: 'USD',
  A$: 'AUD',
  CA$: 'CAD',
  C$: 'CAD',
  '£': 'GBP',
  '¥': 'JPY',
  '₹': 'INR',
  '₺': 'TRY',
  '₩': 'KRW',
  R$: 'BRL',
  FR: 'CHF',
  SFR: 'CHF',
  ZŁ: 'PLN',
  KČ: 'CZK',
}
const FACTORS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  tsd: 1e3,
  m: 1e6,
  mio: 1e6,
  mn: 1e6,
  b: 1e9,
  mrd: 1e9,
}
const CODES = new Set(CURRENCIES)
/** A number as programs write it. */
const PLAIN_NUMBER = /^\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?$/i
const AMOUNT = /^([^\d.,]*)([\d.,' \u2019]*\d)([^\d]*)$/u

/** Returns the ISO 4217 code of a currency's code or symbol; undefined if it is not known. */
export function parseCurrency(text: string): string | undefined {
  const name = text.trim().toUpperCase()
  return CODES.has(name) ? name : Object.hasOwn(SYMBOLS, name) ? SYMBOLS[name] : undefined
}

/**
 * Parses an amount that is not negative, such as `1.234,50 €`, `USD 1,200` or `12k`. The last of two kinds of separators
 * is the decimal one; a single one in front of three digits separates thousands. Undefined if the text has another form.
 * @param isPlain true if a program wrote the numbers: `1.234` is less than two
 */
export function parseAmount(cell: string | number, isPlain = false): Amount | undefined {
  if (typeof cell === 'number') return cell >= 0 && Number.isFinite(cell) ? { value: cell } : undefined
  const text = cell
    .replace(/\p{Cf}/gu, '')
    .replace(/[\u00a0\u202f\u2009]/g, ' ')
    .trim()
  if (text.length === 0 || text.length > MAX_LENGTH) return undefined
  if (isPlain && PLAIN_NUMBER.test(text)) return { value: Number(text) }
  const match = AMOUNT.exec(text)
  const value = match ? parseNumber(match[2]!) : undefined
  if (!match || value === undefined) return undefined
  const suffix = readSuffix(match[3]!)
  const names = [match[1]!.trim(), suffix?.rest ?? ''].filter(Boolean)
  const currency = names[0] === undefined ? undefined : parseCurrency(names[0])
  if (!suffix || names.length > 1 || (names.length === 1 && !currency)) return undefined
  // The product of a decimal and a factor has no more decimals than this.
  const product = suffix.factor === 1 ? value : Math.round(value * suffix.factor * 100) / 100
  return { value: product, ...(currency && { currency }) }
}

/** Splits the text after a number, such as ` Mio. €`, into a factor and the rest. */
function readSuffix(text: string): { readonly factor: number; readonly rest: string } | undefined {
  const [first = '', ...others] = text.trim().split(/\s+/)
  const factor = FACTORS[first.toLowerCase().replace(/\.$/, '')]
  if (factor !== undefined) return { factor, rest: others.join(' ') }
  return others.length === 0 ? { factor: 1, rest: first.replace(/[,.]?[-–—]$/, '') } : undefined
}

function parseNumber(text: string): number | undefined {
  const digits = text.replace(/['\u2019 ]/g, '')
  const [comma, point] = [digits.lastIndexOf(','), digits.lastIndexOf('.')]
  const last = Math.max(comma, point)
  if (last < 0) return Number(digits)
  const separator = digits[last]!
  const isThousands =
    Math.min(comma, point) < 0 &&
    (digits.indexOf(separator) !== last || (digits.length - last === 4 && last > 0 && digits[0] !== '0'))
  const whole = isThousands ? digits : digits.slice(0, last)
  const fraction = isThousands ? '' : digits.slice(last + 1)
  const groups = whole.split(/[.,]/)
  if (groups.length > 1 && !(groups[0]!.length <= 3 && groups.slice(1).every((group) => group.length === 3)))
    return undefined
  if (groups[0] === '' && groups.length > 1) return undefined
  return Number(`${groups.join('') || '0'}.${fraction || '0'}`)
}

/** Parses a count, such as `1.234` or `1,2 Mio.`. */
export function parseCount(cell: string | number): number | undefined {
  const amount = parseAmount(cell)
  return amount && amount.currency === undefined && Number.isSafeInteger(Math.round(amount.value))
    ? Math.round(amount.value)
    : undefined
}
