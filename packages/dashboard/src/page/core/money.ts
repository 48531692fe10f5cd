import { text } from '../texts/texts.ts'

/** The amount that a text states: a number, null for an empty text, or a sentence that states the required change. */
export type TypedAmount =
  | { readonly value: number | null; readonly fault?: undefined }
  | { readonly value?: undefined; readonly fault: string }

/** The largest cost that stats accepts. */
const MAX_AMOUNT = 1e15
/** A decimal number of up to this many digits is unchanged after its conversion to a double and back. */
const MAX_DIGITS = 15

/** Spaces and apostrophes group digits in several locales, and are never decimal separators. */
const GROUPING_ONLY = /[\s'’]/
/** True for groups of digits such as 1,234,567 or, in India, 12,34,567. */
const isGrouped = (typed: string, separator: string) => {
  const [first, ...groups] = typed.split(separator)
  const last = groups.pop()
  return /^\d{1,3}$/.test(first!) && /^\d{3}$/.test(last ?? '') && groups.every((group) => /^\d{2,3}$/.test(group))
}

/**
 * Reads and writes amounts in the notation of one locale. It also reads other notations if they are unambiguous.
 * @param locale a locale for `Intl`
 */
export function createMoneyReader(locale?: string | readonly string[]) {
  const languages = locale as string | string[] | undefined
  const plain = new Intl.NumberFormat(languages, { maximumFractionDigits: 20 })
  const parts = plain.formatToParts(1_234_567.5)
  const separator = (type: 'decimal' | 'group') => parts.find((part) => part.type === type)?.value
  const [decimal, group] = [separator('decimal') ?? '.', separator('group') ?? ',']
  const digits = [...new Intl.NumberFormat(languages, { useGrouping: false }).format(9_876_543_210)].toReversed()

  /**
   * Converts the digits of this locale to 0-9, and its decimal and group separators to `.` or `,`. Removes spaces and
   * apostrophes.
   */
  function toAscii(typed: string): string {
    const ascii = [...typed.trim()].map((char) => {
      const digit = digits.indexOf(char)
      if (digit >= 0) return String(digit)
      if (char === decimal) return decimal === ',' ? ',' : '.'
      if (char === group && !GROUPING_ONLY.test(char)) return group === '.' ? '.' : ','
      return char
    })
    return ascii.filter((char) => !GROUPING_ONLY.test(char)).join('')
  }

  /** The same number as JavaScript writes it, or a sentence that states the required change. */
  function normalize(typed: string): { readonly number: string } | { readonly fault: string } {
    const separators = new Set(typed.match(/[.,]/g))
    if (separators.size === 0) return { number: typed }
    const last = typed.match(/[.,](?=[^.,]*$)/)![0]
    const [whole, fraction] = [typed.slice(0, typed.lastIndexOf(last)), typed.slice(typed.lastIndexOf(last) + 1)]
    if (separators.size === 2) {
      const other = last === '.' ? ',' : '.'
      const isClear = !whole.includes(last) && isGrouped(whole, other)
      return isClear ? { number: `${whole.replaceAll(other, '')}.${fraction}` } : { fault: unclear() }
    }
    if (whole.includes(last))
      return isGrouped(typed, last) ? { number: typed.replaceAll(last, '') } : { fault: unclear() }
    if (!isGrouped(typed, last) || whole === '0') return { number: `${whole || '0'}.${fraction}` }
    const isDecimal = last === (decimal === ',' ? ',' : '.')
    if (!isDecimal) return { number: whole + fraction }
    const [small, large] = [plain.format(Number(`${whole}.${fraction}`)), plain.format(Number(whole + fraction))]
    // A suggestion with three decimals would be ambiguous again.
    const decimals = fraction.replace(/0+$/, '').padEnd(2, '0').replace(/^...$/, '$&0')
    const numbers = { small, large, decimal: `${whole}${decimal}${decimals}`, whole: `${whole}${fraction}` }
    return { fault: text('cost.ambiguous', numbers) }
  }
  const unclear = () => text('cost.unclear', { example: plain.format(12_500.5) })

  function parse(input: string): TypedAmount {
    const typed = toAscii(input)
    if (typed === '') return { value: null }
    if (/^[-−]/.test(typed)) return { fault: text('cost.negative') }
    const read = normalize(typed)
    if ('fault' in read) return read
    if (!/\d/.test(typed) || !/^\d+(\.\d*)?$/.test(read.number)) return { fault: unclear() }
    const value = Number(read.number)
    if (value > MAX_AMOUNT) return { fault: text('cost.tooLarge', { max: plain.format(MAX_AMOUNT) }) }
    const significant = read.number.replace('.', '').replace(/^0+/, '').replace(/0+$/, '').length
    if (significant > MAX_DIGITS) return { fault: text('cost.tooManyDigits', { digits: MAX_DIGITS }) }
    return { value }
  }

  /** The amount as this locale writes it, with all its digits. */
  const format = (value: number) => plain.format(value)
  return { parse, format }
}

/** All currencies that this browser knows, such as `EUR – Euro`, and `stored` too if it does not know that one. */
export function listCurrencies(locale?: string | readonly string[], stored?: string) {
  const names = new Intl.DisplayNames(locale as string | string[] | undefined, { type: 'currency', fallback: 'none' })
  const codes = new Set([...Intl.supportedValuesOf('currency'), ...(stored === undefined ? [] : [stored])])
  return [...codes].sort().map((code) => {
    const name = names.of(code)
    return { code, title: name === undefined ? code : `${code} – ${name}` }
  })
}
