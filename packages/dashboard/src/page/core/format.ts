/** Formats of numbers and times in the reader's locale. Times are ms since 1970. */
export interface Formats {
  /** 1,234,567 */
  count(value: number): string
  /** 1.2M and 1.3M: texts with the fewest decimals (1 to 3) that make them all different. If none do, the texts of `count`. */
  short(values: readonly number[]): string[]
  /** +1,234 */
  signed(value: number): string
  /** 4.2% of a share such as 0.042 */
  percent(share: number): string
  /** +4.2% */
  signedPercent(share: number): string
  /** An amount. Without a currency code, only the number. */
  money(value: number, currency?: string): string
  /** An amount with all the digits of its input. */
  amount(value: number, currency?: string): string
  /** A day */
  day(at: number): string
  /** A date without a time, which has no time zone. @param date YYYY-MM-DD */
  date(date: string): string
  /** A day without its year */
  shortDay(at: number): string
  /** A time of day */
  time(at: number): string
  /** A time of day with its seconds */
  second(at: number): string
  /** A day and a time of day */
  moment(at: number): string
  /** A time of today with its seconds, or the day and the time of day */
  clock(at: number, now: number): string
}

/** Maximum number of decimals of an amount. The minimum remains the usual number of decimals of its currency. */
const MAX_FRACTION_DIGITS = 20

/** @param locale the locale of the browser by default */
export function createFormats(locale?: string | readonly string[], timeZone?: string): Formats {
  const languages = locale as string | string[] | undefined
  const number = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(languages, options)
  const count = number({ maximumFractionDigits: 0 })
  const shorter = [1, 2, 3].map((digits) => number({ notation: 'compact', maximumFractionDigits: digits }))
  const signed = number({ maximumFractionDigits: 0, signDisplay: 'exceptZero' })
  const percent = number({ style: 'percent', maximumFractionDigits: 1 })
  const signedPercent = number({ style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' })
  const amount = number({ maximumFractionDigits: 2 })
  const day = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeZone })
  const date = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeZone: 'UTC' })
  const shortDay = new Intl.DateTimeFormat(languages, { day: 'numeric', month: 'short', timeZone })
  const time = new Intl.DateTimeFormat(languages, { timeStyle: 'short', timeZone })
  const second = new Intl.DateTimeFormat(languages, { timeStyle: 'medium', timeZone })
  const moment = new Intl.DateTimeFormat(languages, { dateStyle: 'medium', timeStyle: 'short', timeZone })
  const numbers = new Map<string, Intl.NumberFormat>()
  function getFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
    const key = JSON.stringify(options)
    let format = numbers.get(key)
    if (!format) numbers.set(key, (format = number(options)))
    return format
  }

  return {
    count: (value) => count.format(value),
    short(values) {
      const texts = (format: Intl.NumberFormat) => values.map((value) => format.format(value))
      return shorter.map(texts).find((all) => new Set(all).size === values.length) ?? texts(count)
    },
    signed: (value) => signed.format(value),
    percent: (share) => percent.format(share),
    signedPercent: (share) => signedPercent.format(share),
    money(value, currency) {
      // Two decimals are too few for amounts below one unit.
      const isSmall = value !== 0 && Math.abs(value) < 1
      const digits = isSmall ? { maximumSignificantDigits: 3 } : {}
      if (currency === undefined) return (isSmall ? getFormat(digits) : amount).format(value)
      return getFormat({ style: 'currency', currency, ...digits }).format(value)
    },
    amount(value, currency) {
      const digits = { maximumFractionDigits: MAX_FRACTION_DIGITS }
      return getFormat(currency === undefined ? digits : { style: 'currency', currency, ...digits }).format(value)
    },
    day: (at) => day.format(at),
    date: (text) => date.format(Date.parse(text)),
    shortDay: (at) => shortDay.format(at),
    time: (at) => time.format(at),
    second: (at) => second.format(at),
    moment: (at) => moment.format(at),
    clock: (at, now) => (day.format(at) === day.format(now) ? second : moment).format(at),
  }
}
