import { BYTE_ORDER_MARK, removeFormulaQuote } from './csv-line.ts'

/** A row of a sheet. Cells of a spreadsheet file may be numbers. */
export interface SheetRow {
  /** First line of the row in its text, from 1. */
  readonly line: number
  readonly cells: readonly (string | number)[]
}

/** Maximum number of columns. Cells after them are ignored. */
export const MAX_COLUMNS = 500

/**
 * Splits text into rows and cells: RFC 4180 with any delimiter and any line break, in linear time. A quoted cell is
 * unchanged; others are trimmed. A quote without its counterpart, or in the middle of a cell, is an ordinary character.
 */
export function* readDelimited(text: string, delimiter: string): Generator<SheetRow> {
  let at = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0
  let line = 1
  while (at < text.length) {
    const cells: string[] = []
    const firstLine = line
    for (;;) {
      const quoted = text[at] === '"' ? readQuotedCell(text, at, delimiter) : undefined
      const end = quoted?.end ?? findCellEnd(text, at, delimiter)
      if (cells.length < MAX_COLUMNS) cells.push(removeFormulaQuote(quoted?.text ?? text.slice(at, end).trim()))
      if (quoted) line += countLineBreaks(quoted.text)
      at = end
      if (text[at] !== delimiter) break
      at++
    }
    at += text.startsWith('\r\n', at) ? 2 : 1
    line++
    yield { line: firstLine, cells }
  }
}

function findCellEnd(text: string, start: number, delimiter: string): number {
  let at = start
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/**
 * Returns the cell that a quote begins; undefined if no quote ends it in front of a delimiter or a line break. The cells
 * of a text take linear time together: a run of quotes that does not end the scan of one cell ends its own at once.
 */
function readQuotedCell(text: string, start: number, delimiter: string) {
  let from = start + 1
  for (;;) {
    const quote = text.indexOf('"', from)
    if (quote < 0) return undefined
    const next = text[quote + 1]
    if (next !== '"') {
      const isEnd = next === undefined || next === delimiter || next === '\n' || next === '\r'
      return isEnd ? { text: text.slice(start + 1, quote).replaceAll('""', '"'), end: quote + 1 } : undefined
    }
    from = quote + 2
  }
}

const countLineBreaks = (text: string): number => text.match(/\r\n|[\n\r]/g)?.length ?? 0
