/** Without this mark at the beginning, spreadsheets assume another encoding. */
export const BYTE_ORDER_MARK = '\ufeff'

export type Cell = string | number | undefined

/**
 * Text that a spreadsheet takes for a formula: it begins with a formula sign, also after spaces, or with a tab or a
 * carriage return. Text of this kind after quotes gets one more quote, so that its reader can remove exactly one.
 */
const FORMULA_PATTERN = /^'*(?:[\t\r]|\s*[=+\-@＝＋－＠])/

function formatCell(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'number') return String(cell)
  // With a leading quote a spreadsheet takes the cell for text, not for a formula.
  const text = FORMULA_PATTERN.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

/** Returns the text of a cell that `formatCsvLine` wrote: without the quote in front of a formula sign. */
export const removeFormulaQuote = (text: string): string =>
  text.startsWith("'") && FORMULA_PATTERN.test(text) ? text.slice(1) : text

/** A line of RFC 4180. */
export const formatCsvLine = (cells: readonly Cell[]): string => `${cells.map(formatCell).join(',')}\r\n`
