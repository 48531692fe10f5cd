import { formatReceived } from '@influencer-stats/runtime/received-value'
import { createValidator } from '@influencer-stats/runtime/validation'
import { describeValidationError } from '@influencer-stats/runtime/validation-errors'
import type { CharValue, Price } from '../core/price.ts'
import { NUMBER_PATTERN } from '../core/values/amount.ts'
import { formatValue as formatTerm, parseRange, type TermValue } from '../core/values/term-value.ts'
import { priceBodySchema } from '../price-schema.ts'

/** Columns of a CSV file that are fields of a price, in the order of an export. */
export const FIELDS = [
  'id',
  'offeringId',
  'groupId',
  'priceSpecId',
  'value',
  'currency',
  'default',
  'from',
  'to',
] as const satisfies readonly (keyof Price)[]
const REQUIRED_FIELDS = ['id', 'offeringId', 'groupId', 'priceSpecId', 'value'] as const

/** Maximum number of columns, as in spreadsheets. */
export const MAX_COLUMNS = 16_384

type Field = (typeof FIELDS)[number]
/** Kinds of cells with the value of a characteristic, in the order of an export. */
const VALUE_KINDS = ['text', 'integer', 'boolean', 'range', 'json'] as const
type ValueKind = (typeof VALUE_KINDS)[number]

/** A column: a field of the price, or the values of one kind of a characteristic. */
export type CsvColumn =
  | { readonly field: Field; readonly char?: undefined }
  | { readonly kind: ValueKind; readonly char: string }

/** Returns the heading of a column. */
export const formatHeading = (column: CsvColumn): string =>
  column.char === undefined ? column.field : `${column.kind}.${column.char}`

/** Returns the columns of a line of headings, or the reason why they are not valid. */
export function parseHeadings(headings: readonly string[]): readonly CsvColumn[] | string {
  if (headings.length > MAX_COLUMNS) return `must have at most ${MAX_COLUMNS} columns; received ${headings.length}`
  if (new Set(headings).size < headings.length) {
    const repeated = headings.find((heading, i) => headings.indexOf(heading) !== i)
    return `must have each column once; received ${formatReceived(repeated)} twice`
  }
  const missing = REQUIRED_FIELDS.find((field) => !headings.includes(field))
  if (missing !== undefined)
    return `must have the column "${missing}"; required: ${REQUIRED_FIELDS.join(', ')}, separated by commas`
  const columns: CsvColumn[] = []
  for (const heading of headings) {
    const column = parseHeading(heading)
    if (!column) {
      const kinds = VALUE_KINDS.map((kind) => `${kind}.NAME`)
      return `has the unknown column ${formatReceived(heading)}; known: ${[...FIELDS, ...kinds].join(', ')}`
    }
    columns.push(column)
  }
  return columns
}

function parseHeading(heading: string): CsvColumn | undefined {
  const field = FIELDS.find((one) => one === heading)
  if (field) return { field }
  const kind = VALUE_KINDS.find((one) => heading.startsWith(`${one}.`))
  const char = kind && heading.slice(kind.length + 1)
  return char ? { kind, char } : undefined
}

/** Returns the kind of the cells that have a value. */
export function getValueKind(value: CharValue['value']): ValueKind {
  if (typeof value === 'number') return 'integer'
  if (typeof value === 'boolean') return 'boolean'
  // Half of a surrogate pair has no UTF-8.
  if (typeof value === 'string') return value.isWellFormed() ? 'text' : 'json'
  return Array.isArray(value) ? 'json' : 'range'
}

/** Orders columns of the same characteristic. */
export const compareKinds = (a: ValueKind, b: ValueKind): number => VALUE_KINDS.indexOf(a) - VALUE_KINDS.indexOf(b)

/** Returns the cell of a value. */
export function formatValue(value: CharValue['value']): string {
  const kind = getValueKind(value)
  return kind === 'json' ? JSON.stringify(value) : formatTerm(value as TermValue)
}

/** The JSON of a cell, or the reason why it has none. */
export type CellResult = { readonly json: string } | { readonly detail: string }

const INTEGER_PATTERN = /^-?(?:0|[1-9]\d*)$/
const validateValue = createValidator(priceBodySchema.properties.charValues.items.properties.value, 'body')

/** Parses a cell that is not empty. */
export function parseCell(cell: string, column: CsvColumn): CellResult {
  if (column.char !== undefined) return parseValue(cell, column.kind)
  if (column.field === 'value')
    return NUMBER_PATTERN.test(cell) ? { json: cell } : refuse(cell, 'a decimal such as 9.50')
  if (column.field !== 'default') return { json: JSON.stringify(cell) }
  const isDefault = parseBoolean(cell)
  return isDefault === undefined ? refuse(cell, 'true or false') : { json: String(isDefault) }
}

function parseValue(cell: string, kind: ValueKind): CellResult {
  let value: unknown = cell
  if (kind === 'integer') {
    value = Number(cell)
    if (!INTEGER_PATTERN.test(cell) || !Number.isSafeInteger(value))
      return refuse(cell, `an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`)
  } else if (kind === 'boolean') {
    value = parseBoolean(cell)
    if (value === undefined) return refuse(cell, 'true or false')
  } else if (kind === 'range') {
    value = cell === '..' ? undefined : parseRange(cell)
    if (value === undefined) return refuse(cell, 'a range such as 10..99, 10.. or ..99')
  } else if (kind === 'json') {
    try {
      value = JSON.parse(cell)
    } catch {
      return refuse(cell, 'JSON such as ["DE","AT"]')
    }
  }
  if (validateValue(value)) return { json: JSON.stringify(value) }
  return { detail: describeValidationError(validateValue.errors!) }
}

const refuse = (cell: string, expected: string) => ({ detail: `must be ${expected}; received ${formatReceived(cell)}` })

/** A spreadsheet writes these words in capital letters. */
function parseBoolean(cell: string): boolean | undefined {
  const word = cell.toLowerCase()
  return word === 'true' ? true : word === 'false' ? false : undefined
}
