import { readDelimited, type SheetRow } from '../csv/delimited-text.ts'
import { readHeadings, type SheetColumns } from './headings.ts'
import type { PasteRefusal } from './content-link.ts'
import { cutText } from './paste-item.ts'
import { readWord, type WordContent } from './read-word.ts'
import { findSheetDayOrder, readRowValues, type RowValues, type ValueOptions } from './row-values.ts'
import { splitWords } from './words.ts'

const DELIMITERS = ['\t', ';', ',', '|']
/** Headings are in one of the first rows; titles and empty rows may precede them. */
const MAX_ROWS_BEFORE_HEADINGS = 20
/** An empty row, or the line below the headings of a Markdown table. */
const EMPTY_CELL = /^[\s:-]*$/

export interface Sheet {
  readonly columns: SheetColumns
  /** Rows below the headings that are not empty. */
  readonly rows: readonly SheetRow[]
}

/** Returns the sheet in a text; undefined if no row contains known headings. */
export function findSheet(text: string): Sheet | undefined {
  let best: { readonly delimiter: string; readonly known: number } | undefined
  for (const delimiter of DELIMITERS) {
    if (delimiter !== '\t' && !text.includes(delimiter)) continue
    const known = findColumns(readDelimited(text, delimiter))?.fields.filter(Boolean).length ?? 0
    if (known > (best?.known ?? 0)) best = { delimiter, known }
  }
  return best && toSheet(readDelimited(text, best.delimiter))
}

/** Returns the sheet in rows; undefined if no row contains known headings. */
export function toSheet(all: Iterable<SheetRow>): Sheet | undefined {
  const iterator = all[Symbol.iterator]()
  const columns = findColumns({ [Symbol.iterator]: () => ({ next: () => iterator.next() }) })
  if (!columns) return undefined
  const rows: SheetRow[] = []
  for (let next = iterator.next(); !next.done; next = iterator.next())
    if (next.value.cells.some((cell) => !EMPTY_CELL.test(String(cell)))) rows.push(next.value)
  return { columns, rows }
}

/** Reads rows up to the headings, which precede all links. */
function findColumns(rows: Iterable<SheetRow>): SheetColumns | undefined {
  let read = 0
  for (const row of rows) {
    const columns = readHeadings(row)
    const isBeforeLinks = ++read < MAX_ROWS_BEFORE_HEADINGS && !row.cells.some((cell) => String(cell).includes('://'))
    if (columns || !isBeforeLinks) return columns
  }
  return undefined
}

/** A word with its content, or a refused text. */
export interface FoundContent {
  readonly line: number
  readonly text: string
  readonly content: WordContent
  readonly row?: RowValues
}

/** Yields the contents of each row. A row without any yields a refusal. */
export function* readSheet(sheet: Sheet): Generator<FoundContent> {
  const { columns, rows } = sheet
  const options: ValueOptions = { columns, dayOrder: findSheetDayOrder(columns, rows) }
  for (const row of rows) {
    const values = readRowValues(row, options)
    const shared = { line: row.line, ...(Object.keys(values).length > 0 && { row: values }) }
    for (const found of findContents(row, columns)) yield { ...found, ...shared }
  }
}

interface CellContent {
  readonly text: string
  readonly content: WordContent
}

/** Returns the contents of a row: those of its links, or else of its cells without a known heading. */
export function findContents({ cells }: SheetRow, { fields }: SheetColumns): CellContent[] {
  const linkCells = cells.filter((cell, i) => fields[i] === 'link' && String(cell).trim() !== '').map(String)
  const inLinks = linkCells.flatMap(readCell)
  if (inLinks.some(({ content }) => 'link' in content)) return inLinks
  const others = cells.filter((_cell, i) => fields[i] === undefined).flatMap((cell) => readCell(String(cell)))
  const accepted = others.filter(({ content }) => 'link' in content && !content.isWord)
  if (accepted.length > 0) return accepted
  if (inLinks.length > 0) return inLinks
  if (!fields.includes('link') && others.length > 0) return others
  const text = linkCells[0] ?? cells.map(String).filter(Boolean).join(' ')
  return [refuse(text, 'NO_LINK')]
}

const refuse = (text: string, reason: PasteRefusal): CellContent => ({
  text: cutText(text.trim()),
  content: { reason },
})

/** Returns the contents of the words of a cell or a line. A word such as `Influencers` counts only if it is the only one. */
export function readCell(text: string): CellContent[] {
  const words = splitWords(text)
  const contents: CellContent[] = []
  for (const word of words) {
    const content = readWord(word)
    if (content && !('isWord' in content && words.length > 1)) contents.push({ text: cutText(word), content })
  }
  return contents
}
