import type { ExactNumber } from './prices/exact-json.ts'

/** Maximum number of decimals that `Intl.NumberFormat` writes. */
const MAX_FRACTION_DIGITS = 100

/** Smaller shares have no percentage with one decimal. */
const MIN_SHARE = 0.0005

/** Smaller amounts of money have no two significant digits in three decimals. */
const MIN_AMOUNT = 0.01

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** The number of decimals of a number in JSON: 3 of 1.100 and of 1.1e-2. */
function countFractionDigits(text: string): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  return Math.max(0, fraction.length - Number(exponent))
}

/**
 * Creates formats of numbers and times in the reader's locale. Times are ms since 1970.
 * @param locale the locale of the browser by default
 */
export function createFormats(locale?: string | readonly string[], timeZone?: string) {
  const languages = locale as string | string[] | undefined
  const number = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(languages, options)
  const count = number({ maximumFractionDigits: 0 })
  const shorter = [1, 2, 3].map((digits) =>
    number({ notation: 'compact', maximumFractionDigits: digits, useGrouping: true }),
  )
  const signed = number({ maximumFractionDigits: 0, signDisplay: 'exceptZero' })
  const wholePercent = number({ style: 'percent' })
  const percent = number({ style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 })
  const signedPercent = number({ style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' })
  const day = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeZone })
  const date = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeZone: 'UTC' })
  const shortDay = new Intl.DateTimeFormat(languages, { day: 'numeric', month: 'short', timeZone })
  const time = new Intl.DateTimeFormat(languages, { timeStyle: 'short', timeZone })
  const second = new Intl.DateTimeFormat(languages, { timeStyle: 'medium', timeZone })
  const shortMoment = new Intl.DateTimeFormat(languages, {
    day: 'numeric',
    month: 'short',
    hour: 'numeric',
    minute: '2-digit',
    timeZone,
  })
  const moment = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeStyle: 'short', timeZone })
  const numbers = new Map<string, Intl.NumberFormat>()
  function getFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const key = JSON.stringify(options)
    let format = numbers.get(key)
    if (!format) numbers.set(key, (format = number(options)))
    return format
  }

  return {
    /** 4.2 MB */
    bytes(value: number): string {
      const index = Math.min(Math.floor(Math.log10(Math.max(1, value)) / 3), BYTE_UNITS.length - 1)
      return getFormat({ style: 'unit', unit: BYTE_UNITS[index]!, maximumFractionDigits: 1 }).format(
        value / 1_000 ** index,
      )
    },
    /** 1,234,567 */
    count: (value: number) => count.format(value),
    /** 1.2M and 1.3M: texts with the fewest decimals (1 to 3) that make them all different. If none do, the texts of `count`. */
    short(values: readonly number[]): string[] {
      const texts = (format: Intl.NumberFormat) => values.map((value) => format.format(value))
      return shorter.map(texts).find((all) => new Set(all).size === values.length) ?? texts(count)
    },
    /** +1,234 */
    signed: (value: number) => signed.format(value),
    /** 4.2% of a share such as 0.042, 4.0% of 0.04. A share that would be 0.0% is <0.1%. Only none and all have no decimal. */
    percent(share: number): string {
      if (share === 0 || share === 1) return wholePercent.format(share)
      return share > 0 && share < MIN_SHARE ? `<${percent.format(0.001)}` : percent.format(share)
    },
    /** +4.2% */
    signedPercent: (share: number) => signedPercent.format(share),
    /** An amount. Without a currency code, only the number. */
    money(value: number, currency?: string): string {
      const style: Intl.NumberFormatOptions =
        currency === undefined ? { maximumFractionDigits: 2 } : { style: 'currency', currency }
      const size = Math.abs(value)
      if (size === 0 || size >= 1) return getFormat(style).format(value)
      // Two decimals are too few for amounts below one unit. Those below each other in a column have the same decimals.
      const digits =
        size < MIN_AMOUNT ? { maximumSignificantDigits: 3 } : { minimumFractionDigits: 3, maximumFractionDigits: 3 }
      return getFormat({ ...style, ...digits }).format(value)
    },
    /** An amount with all the digits of its input, and at least the usual decimals of its currency. */
    amount(value: ExactNumber, currency?: string): string {
      const text = String(value)
      const style: Intl.NumberFormatOptions = currency === undefined ? {} : { style: 'currency', currency }
      const usual = currency === undefined ? 0 : getFormat(style).resolvedOptions().maximumFractionDigits!
      const digits = countFractionDigits(text)
      if (digits > MAX_FRACTION_DIGITS) return [text, currency].filter(Boolean).join(' ')
      const format = getFormat(digits > usual ? { ...style, minimumFractionDigits: digits } : style)
      return format.format(text as Intl.StringNumericLiteral)
    },
    day: (at: number) => day.format(at),
    /** A date without a time, which has no time zone. @param text YYYY-MM-DD */
    date: (text: string) => date.format(Date.parse(text)),
    /** A day without its year */
    shortDay: (at: number) => shortDay.format(at),
    /** A time of day */
    time: (at: number) => time.format(at),
    /** A time of day with its seconds */
    second: (at: number) => second.format(at),
    /** A day and a time of day */
    moment: (at: number) => moment.format(at),
    /** A time of today with its seconds, or the day and the time of day. The year of `now` is not stated. */
    clock(at: number, now: number): string {
      if (day.format(at) === day.format(now)) return second.format(at)
      return (new Date(at).getFullYear() === new Date(now).getFullYear() ? shortMoment : moment).format(at)
    },
  }
}
