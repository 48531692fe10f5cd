import { isObject, JsonNumber, parseJson, type Json, type JsonObject } from './json-text.ts'

// CSV of RFC 4180, with the columns of the contract.

/** Splits CSV into its lines of cells. */
export function parseCsv(text: string): string[][] {
  const lines: string[][] = []
  let cells: string[] = []
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy
  while (pattern.lastIndex < text.length) {
    const found = pattern.exec(text)
    if (!found) throw new SyntaxError(`not a cell: ${text.slice(0, 100)}`)
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2]!)
    if (found[3] === ',') continue
    lines.push(cells)
    cells = []
  }
  return lines
}

const FIELDS = ['id', 'offeringId', 'groupId', 'priceSpecId', 'value', 'currency', 'default', 'from', 'to']

interface CsvValue {
  readonly column: string
  readonly cell: string
}

/** Returns the column and the cell of a value of a characteristic. */
function toCsvValue(char: string, value: Json): CsvValue {
  if (typeof value === 'string') return { column: `text.${char}`, cell: value }
  if (typeof value === 'boolean') return { column: `boolean.${char}`, cell: String(value) }
  if (value instanceof JsonNumber) return { column: `integer.${char}`, cell: value.text }
  if (!isObject(value)) return { column: `json.${char}`, cell: JSON.stringify(value) }
  const toEnd = (end: Json | undefined) => (end instanceof JsonNumber ? end.text : '')
  return { column: `range.${char}`, cell: `${toEnd(value.from)}..${toEnd(value.to)}` }
}

const listCharValues = (price: JsonObject) =>
  (price.charValues as readonly JsonObject[]).map(({ char, value }) => toCsvValue(char as string, value!))

/** Returns the columns that prices need. */
export const listColumns = (prices: readonly JsonObject[]): string[] => [
  ...new Set([...FIELDS, ...prices.flatMap((price) => listCharValues(price).map(({ column }) => column))]),
]

const toCell = (value: Json | undefined): string => {
  if (value === undefined) return ''
  return value instanceof JsonNumber ? value.text : String(value)
}

/** Returns the cells of a price. */
export function toCells(price: JsonObject, columns: readonly string[]): string[] {
  const chars = new Map(listCharValues(price).map(({ column, cell }) => [column, cell]))
  return columns.map((column) => chars.get(column) ?? toCell(FIELDS.includes(column) ? price[column] : undefined))
}

function parseValue(kind: string, cell: string): Json {
  if (kind === 'text') return cell
  if (kind === 'boolean') return cell === 'true'
  if (kind === 'integer') return new JsonNumber(cell)
  if (kind === 'json') return parseJson(cell)
  const [from, to] = cell.split('..')
  return { ...(from && { from: new JsonNumber(from) }), ...(to && { to: new JsonNumber(to) }) }
}

/** Returns the price of a line of cells. Its characteristics are in the order of the columns. */
export function fromCells(cells: readonly string[], columns: readonly string[]): JsonObject {
  const price: Record<string, Json> = {}
  const charValues: Json[] = []
  for (const [i, column] of columns.entries()) {
    const cell = cells[i]!
    const dot = column.indexOf('.')
    if (cell === '') continue
    if (dot >= 0) charValues.push({ char: column.slice(dot + 1), value: parseValue(column.slice(0, dot), cell) })
    else if (column === 'value') price.value = new JsonNumber(cell)
    else price[column] = column === 'default' ? cell === 'true' : cell
  }
  return { ...price, charValues }
}
