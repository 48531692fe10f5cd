export type Cell = string | number | undefined

/** What a spreadsheet would take for a formula: its sign, also behind spaces, or a tab or a return at the beginning. */
const FORMULA_PATTERN = /^(?:[\t\r]|\s*[=+\-@＝＋－＠])/

function formatCell(cell: Cell): string {
  if (cell === undefined) return ''
  if (typeof cell === 'number') return String(cell)
  // With a quote in front of it a spreadsheet shows it as it is.
  const text = FORMULA_PATTERN.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of RFC 4180. */
export const formatCsvLine = (cells: readonly Cell[]): string => `${cells.map(formatCell).join(',')}\r\n`
