import { parseAmount, parseCount, parseCurrency } from './amounts.ts'
import { findDayOrder, parseDay, parseTime, type DayOrder } from './days.ts'
import type { SheetRow } from '../csv/delimited-text.ts'
import type { SheetColumns, SheetField } from './headings.ts'
import { parseListCell } from '../csv/list-cell.ts'
import { readWord } from './read-word.ts'

/** Numbers of a post that a person reported. */
export interface PostCounts {
  readonly views?: number
  readonly likes?: number
  readonly comments?: number
  readonly shares?: number
  readonly saves?: number
}

/** A value that is not valid. The item of its row is accepted without it. */
export interface InvalidCell {
  readonly line: number
  readonly field: SheetField
  /** At most 200 characters. */
  readonly text: string
}

/** Values of a row, by the headings of its sheet. Absent for empty cells. */
export interface RowValues extends PostCounts {
  readonly id?: string
  readonly name?: string
  readonly type?: string
  readonly title?: string
  /** A name; the id of a channel, or `@` and a handle, if the cell has a link to a channel. */
  readonly creator?: string
  readonly fee?: number
  readonly cost?: number
  readonly currency?: string
  /** Days (YYYY-MM-DD). */
  readonly from?: string
  readonly to?: string
  /** A day, or an ISO time. */
  readonly published?: string
  readonly tags?: readonly string[]
  readonly archived?: boolean
  readonly source?: string
  readonly contains?: readonly string[]
  readonly post?: string
  /** An ISO time. */
  readonly reportedAt?: string
  readonly note?: string
  /** Present if some cells are not valid. */
  readonly invalid?: readonly InvalidCell[]
}

export interface ValueOptions {
  readonly columns: SheetColumns
  readonly dayOrder?: DayOrder | undefined
  /** True if a program wrote the numbers, as in an export. */
  readonly isPlain?: boolean
}

const MAX_INVALID_LENGTH = 200
const YES_PATTERN = /^(?:true|yes|ja|wahr|x|1|✓|archived|archiviert)$/i
const NO_PATTERN = /^(?:false|no|nein|falsch|0|-)?$/i
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/

type CellParser = (cell: string | number, options: ValueOptions) => unknown

const parseText: CellParser = (cell, { isPlain }) => (isPlain ? String(cell) : String(cell).trim())
const parseCellDay: CellParser = (cell, { dayOrder }) => parseDay(cell, dayOrder)
const parseList: CellParser = (cell) => parseListCell(String(cell))
const parsePublished: CellParser = (cell, { dayOrder }) =>
  ISO_TIME.test(String(cell)) ? String(cell) : parseDay(cell, dayOrder)

const PARSERS: Readonly<Partial<Record<SheetField, CellParser>>> = {
  id: parseText,
  name: parseText,
  type: (cell) => String(cell).trim().toLowerCase(),
  title: parseText,
  creator: (cell, { isPlain }) => (isPlain ? String(cell) : toCreator(String(cell).trim())),
  fee: (cell, { isPlain }) => parseAmount(cell, isPlain),
  cost: (cell, { isPlain }) => parseAmount(cell, isPlain),
  currency: (cell) => parseCurrency(String(cell)),
  from: parseCellDay,
  to: parseCellDay,
  published: parsePublished,
  tags: parseList,
  archived: (cell) =>
    YES_PATTERN.test(String(cell).trim()) ? true : NO_PATTERN.test(String(cell).trim()) ? false : undefined,
  source: parseText,
  contains: parseList,
  post: parseText,
  views: parseCount,
  likes: parseCount,
  comments: parseCount,
  shares: parseCount,
  saves: parseCount,
  reportedAt: (cell, { dayOrder }) => parseTime(cell, dayOrder),
  note: parseText,
}

/** Returns the id or the handle of a channel that the text links to; otherwise the text. */
function toCreator(text: string): string {
  const content = readWord(text)
  const link = content && 'link' in content ? content.link : undefined
  return link?.type === 'channel' ? (link.id ?? `@${link.name}`) : text
}

/** Returns the values of a row. */
export function readRowValues({ line, cells }: SheetRow, options: ValueOptions): RowValues {
  const values: Record<string, unknown> = {}
  const invalid: InvalidCell[] = []
  for (const [i, field] of options.columns.fields.entries()) {
    const cell = cells[i] ?? ''
    const parse = field && PARSERS[field]
    if (!parse || cell === '' || (!options.isPlain && String(cell).trim() === '')) continue
    const value = parse(cell, options)
    if (value === undefined) invalid.push({ line, field, text: String(cell).slice(0, MAX_INVALID_LENGTH) })
    else if (field === 'fee' || field === 'cost') {
      const amount = value as NonNullable<ReturnType<typeof parseAmount>>
      values[field] = amount.value
      values['currency'] ??= amount.currency ?? options.columns.currency
    } else values[field] = value
  }
  if (values['currency'] === undefined) delete values['currency']
  return { ...values, ...(invalid.length > 0 && { invalid }) }
}

/** Returns the order of day and month in all dates of a sheet. */
export function findSheetDayOrder({ fields }: SheetColumns, rows: readonly SheetRow[]): DayOrder | undefined {
  const dates = [...fields.entries()].filter(([, field]) => field && PARSERS_OF_DATES.has(field)).map(([i]) => i)
  return findDayOrder(rows.flatMap(({ cells }) => dates.map((i) => cells[i])))
}

const PARSERS_OF_DATES: ReadonlySet<SheetField> = new Set(['from', 'to', 'published', 'reportedAt'])
