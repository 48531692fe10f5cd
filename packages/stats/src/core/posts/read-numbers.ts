import { findContents, findSheet } from '../paste/read-sheet.ts'
import { findSheetDayOrder, readRowValues } from '../paste/row-values.ts'
import type { ImportedNumbers, RefusedRow } from './numbers-import.ts'
import { MAX_NOTE_LENGTH, pickCounts, POST_COUNTS } from './post.ts'

/** Maximum number of rows of an import. */
export const MAX_IMPORT_ROWS = 10_000

export interface NumbersSheet {
  readonly rows: readonly (ImportedNumbers | RefusedRow)[]
  /** Headings that are not known. Their columns are ignored. */
  readonly unknownHeadings: readonly string[]
}

/**
 * Reads the numbers of a sheet with headings: a link or the id of a post, and counts. An empty cell is an absent count.
 * @param now time of rows that state none (ms since 1970)
 * @returns undefined if no row has known headings
 */
export function readNumbers(text: string, now: number): NumbersSheet | undefined {
  const sheet = findSheet(text)
  if (!sheet) return undefined
  const { columns, rows } = sheet
  const options = { columns, dayOrder: findSheetDayOrder(columns, rows) }
  const read = rows.slice(0, MAX_IMPORT_ROWS + 1).map((row): ImportedNumbers | RefusedRow => {
    const { line } = row
    const { invalid = [], post, reportedAt, note, ...values } = readRowValues(row, options)
    const wrong = invalid.find(({ field }) => READ_FIELDS.has(field))
    if (wrong) return { line, state: 'refused', reason: 'INVALID_VALUE', detail: wrong.text }
    const link = findContents(row, columns)
      .map(({ content }) => ('link' in content ? content.link : undefined))
      .find((one) => one?.type === 'post')
    if (post === undefined && !link) return { line, state: 'refused', reason: 'NO_POST' }
    const counts = pickCounts(values)
    if (Object.keys(counts).length === 0) return { line, state: 'refused', reason: 'NO_NUMBERS' }
    const at = reportedAt === undefined ? now : Date.parse(reportedAt)
    return { line, post, url: link?.url, numbers: { at, ...counts, note: note?.slice(0, MAX_NOTE_LENGTH) } }
  })
  return { rows: read, unknownHeadings: columns.unknown }
}

const READ_FIELDS: ReadonlySet<string> = new Set([...POST_COUNTS, 'reportedAt'])
