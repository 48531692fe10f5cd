import type { CharValue, Price } from '../core/price.ts'
import { errors } from '../errors.ts'
import {
  compareKinds,
  FIELDS,
  formatHeading,
  formatValue,
  getValueKind,
  MAX_COLUMNS,
  type CsvColumn,
} from './columns.ts'
import { formatLine } from './csv-cells.ts'

/** Writes prices as the lines of a CSV file. */
export class CsvPriceWriter {
  /** The line of the headings. */
  readonly head: string
  readonly width: number
  /** Numbers of columns by kind and characteristic. */
  readonly #columns = new Map<string, number>()

  /**
   * @param values values of characteristics; each kind of values of a characteristic gets a column
   * @throws Problem `TOO_MANY_COLUMNS`
   */
  constructor(values: Iterable<CharValue>) {
    const kindsByChar = new Map<string, Set<ReturnType<typeof getValueKind>>>()
    for (const { char, value } of values)
      kindsByChar.set(char, (kindsByChar.get(char) ?? new Set()).add(getValueKind(value)))
    const columns: CsvColumn[] = FIELDS.map((field) => ({ field }))
    for (const [char, kinds] of kindsByChar)
      for (const kind of [...kinds].sort(compareKinds)) columns.push({ kind, char })
    const headings = columns.map(formatHeading)
    for (const [i, heading] of headings.entries()) this.#columns.set(heading, i)
    if (headings.length > MAX_COLUMNS)
      throw errors.TOO_MANY_COLUMNS(`CSV may have ${MAX_COLUMNS} columns; the prices need ${headings.length}`)
    this.head = formatLine(headings)
    this.width = headings.length
  }

  format(price: Price): string {
    const cells = Array<string>(this.width).fill('')
    for (const [i, field] of FIELDS.entries()) cells[i] = String(price[field] ?? '')
    for (const { char, value } of price.charValues)
      cells[this.#columns.get(formatHeading({ kind: getValueKind(value), char }))!] = formatValue(value)
    return formatLine(cells)
  }
}

/** Creates the writer for files of these prices. */
export function createCsvWriter(prices: Iterable<Price>): CsvPriceWriter {
  return new CsvPriceWriter(Iterator.from(prices).flatMap(({ charValues }) => charValues))
}

/** Returns a CSV file of prices. */
export function formatCsv(prices: readonly Price[]): string {
  const writer = createCsvWriter(prices)
  return writer.head + prices.map((price) => writer.format(price)).join('')
}
