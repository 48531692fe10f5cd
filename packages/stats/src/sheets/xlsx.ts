import type { Cell } from '../core/csv/csv-line.ts'
import { MAX_COLUMNS, type SheetRow } from '../core/csv/delimited-text.ts'
import { checkUnpackedSize, SheetFileError } from './zip-limits.ts'

/** Limits of a file that is read: its size and the size of its unpacked parts (bytes), its rows, and its cells. */
export const MAX_XLSX_BYTES = 16_777_216
const MAX_UNPACKED_BYTES = 134_217_728
const MAX_ROWS = 200_000
const MAX_CELLS = 5_000_000
/** A text that many cells share is stored once, so the size of the file does not limit the text of all cells. */
const MAX_CHARACTERS = 33_554_432

/** Width of a column (characters). */
const COLUMN_WIDTH = 18

/**
 * Renders rows as an XLSX file of one sheet. The first row remains visible. The file is made while it is read, so the
 * memory does not depend on the number of rows. Texts are texts: no spreadsheet takes them for formulas.
 */
export async function renderXlsx(
  rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>,
  sheetName: string,
): Promise<ReadableStream<Uint8Array>> {
  const { writeXlsxStream } = await import('hucre/xlsx')
  return writeXlsxStream(toValues(rows), {
    name: sheetName,
    freezePane: { rows: 1 },
    columns: Array.from({ length: MAX_RENDERED_COLUMNS }, () => ({ width: COLUMN_WIDTH })),
  })
}

const MAX_RENDERED_COLUMNS = 40

async function* toValues(rows: Iterable<readonly Cell[]> | AsyncIterable<readonly Cell[]>) {
  for await (const row of rows) yield row.map((cell) => (typeof cell === 'string' ? escapeText(cell) : (cell ?? null)))
}

/** Characters that XML does not have, and the beginning of text that looks like an escaped character. */
const ESCAPED_PATTERN = /(?![\t\n\r])\p{Cc}|[\ufffe\uffff]|_(?=x[\dA-F]{4}_)/giu

/** Returns a text in which `_x0008_` is a character: the form of ECMA-376 22.9.2.19, which the library reads and does not write. */
const escapeText = (text: string): string =>
  text.replace(
    ESCAPED_PATTERN,
    (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
  )

/**
 * Reads the first sheet of an XLSX file. Days are YYYY-MM-DD; other times are ISO times.
 * @throws {SheetFileError} if the file is not valid or too large
 */
export async function readXlsx(bytes: Uint8Array): Promise<SheetRow[]> {
  if (bytes.length > MAX_XLSX_BYTES)
    throw new SheetFileError('FILE_TOO_LARGE', `must be at most ${MAX_XLSX_BYTES} bytes; received ${bytes.length}`)
  checkUnpackedSize(bytes, MAX_UNPACKED_BYTES)
  const { streamXlsxRows } = await import('hucre/xlsx')
  const rows: SheetRow[] = []
  let [cellCount, characters] = [0, 0]
  try {
    for await (const { index, values } of streamXlsxRows(bytes)) {
      const cells = values.slice(0, MAX_COLUMNS).map(toCell)
      cellCount += values.length
      for (const cell of cells) characters += typeof cell === 'string' ? cell.length : 0
      if (rows.length === MAX_ROWS || cellCount > MAX_CELLS || characters > MAX_CHARACTERS)
        throw new SheetFileError('FILE_TOO_LARGE', `must have at most ${MAX_ROWS} rows and ${MAX_CELLS} cells`)
      rows.push({ line: index + 1, cells })
    }
  } catch (error) {
    if (error instanceof SheetFileError) throw error
    throw new SheetFileError('INVALID_FILE', 'must be an XLSX file', { cause: error })
  }
  return rows
}

function toCell(value: unknown): string | number {
  if (typeof value === 'number') return value
  if (value instanceof Date) return toTimeText(value)
  return value === null || value === undefined ? '' : String(value)
}

function toTimeText(date: Date): string {
  if (Number.isNaN(date.getTime())) return ''
  const text = date.toISOString()
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text
}
