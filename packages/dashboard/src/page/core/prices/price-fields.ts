import type { ExactNumber } from './exact-json.ts'
import type { Validity } from './price-time.ts'
import { text } from '../../texts/texts.ts'
import type { CharValue } from './price-query.ts'

/** Integers from `from` to `to`, both included. */
export interface IntegerRange {
  readonly from?: number
  readonly to?: number
}

/** A value of a characteristic of a price. */
export type PriceCharValue = CharValue | IntegerRange | readonly (CharValue | IntegerRange)[]

/** A price with all its fields. */
export interface FullPrice extends Validity {
  readonly id: string
  readonly offeringId: string
  readonly groupId: string
  readonly priceSpecId: string
  readonly charValues: readonly { readonly char: string; readonly value: PriceCharValue }[]
  readonly value: ExactNumber
  readonly currency?: string
}

export const isRange = (value: unknown): value is IntegerRange =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value in words: Yes, 10 to 99, DE or AT. */
export function describeValue(value: PriceCharValue): string {
  if (typeof value === 'boolean') return text(value ? 'price.yes' : 'price.no')
  if (Array.isArray(value)) return value.map(describeValue).join(', ')
  if (!isRange(value)) return String(value)
  const { from, to } = value
  // Numbers of prices are names of values: they have no format.
  if (from === undefined) return text('price.upTo', { to: String(to) })
  return to === undefined
    ? text('price.orMore', { from: String(from) })
    : text('price.range', { from: String(from), to: String(to) })
}

/** Formats of the reader that the fields of a price need. */
export interface PriceFormats {
  amount(value: ExactNumber, currency?: string): string
  date(text: string): string
  /** @param at ms since 1970 */
  moment(at: number): string
}

/** A time of prices: a date, or a time in the reader's time zone. */
export const formatTime = (at: string, { date, moment }: Pick<PriceFormats, 'date' | 'moment'>): string =>
  at.includes('T') ? moment(Date.parse(at)) : date(at)

export function describeValidity({ from, to }: Validity, formats: PriceFormats): string {
  const [start, end] = [from, to].map((at) => at && formatTime(at, formats))
  if (start && end) return `${start} – ${end}`
  return start ? text('price.from', { start }) : end ? text('price.until', { end }) : text('price.always')
}

/** A field of prices as a column of a table. */
export interface PriceColumn {
  readonly title: string
  /** A text for each price. '' for a price without this field. */
  readonly cells: readonly string[]
  /** True if the texts differ. */
  readonly differs: boolean
}

/**
 * The columns that distinguish prices: amount and validity, and the other fields that differ.
 * @param prices at least one
 * @param needed title of a column that is needed even if its texts do not differ
 */
export function listColumns(prices: readonly FullPrice[], formats: PriceFormats, needed?: string): PriceColumn[] {
  const column = (title: string, getText: (price: FullPrice) => string): PriceColumn => {
    const cells = prices.map(getText)
    return { title, cells, differs: new Set(cells).size > 1 }
  }
  const chars = [...new Set(prices.flatMap(({ charValues }) => charValues.map(({ char }) => char)))].sort()
  const getValue = ({ charValues }: FullPrice, char: string) => charValues.find((one) => one.char === char)?.value
  return [
    column(text('price.price'), ({ value, currency }) => formats.amount(value, currency)),
    column(text('price.valid'), (price) => describeValidity(price, formats)),
    ...[
      column(text('price.offering'), ({ offeringId }) => offeringId),
      column(text('price.group'), ({ groupId }) => groupId),
      column(text('price.spec'), ({ priceSpecId }) => priceSpecId),
      ...chars.map((char) =>
        column(char, (price) => {
          const value = getValue(price, char)
          return value === undefined ? '' : describeValue(value)
        }),
      ),
    ].filter(({ title, differs }) => differs || title === needed),
  ]
}

/** The columns of a price that says everything about it. */
export const listFields = (price: FullPrice, formats: PriceFormats): (readonly [title: string, text: string])[] => [
  [text('price.valid'), describeValidity(price, formats)],
  [text('price.offering'), price.offeringId],
  [text('price.group'), price.groupId],
  [text('price.spec'), price.priceSpecId],
  ...price.charValues.map(({ char, value }) => [char, describeValue(value)] as const),
]
