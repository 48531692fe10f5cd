// Lines of RFC 4180.

/** The reason why a line has no valid cells. */
export interface CellProblem {
  /** Number of the cell, from 0. */
  readonly column: number
  readonly detail: string
}

/** Splits a line into its cells. Quoted cells may contain line breaks. */
export function splitCells(line: string): string[] | CellProblem {
  if (!line.includes('"')) return line.split(',')
  const cells: string[] = []
  const fail = (detail: string): CellProblem => ({ column: cells.length, detail })
  let at = 0
  for (;;) {
    let cell = ''
    if (line[at] === '"') {
      let isOpen = true
      for (at++; isOpen; at++) {
        const end = line.indexOf('"', at)
        if (end < 0) return fail('the quote is not closed')
        cell += line.slice(at, end)
        isOpen = line[end + 1] === '"'
        if (isOpen) cell += '"'
        at = isOpen ? end + 1 : end
      }
      if (at < line.length && line[at] !== ',') return fail('a comma must follow the closing quote')
    } else {
      const end = line.indexOf(',', at)
      cell = line.slice(at, end < 0 ? undefined : end)
      if (cell.includes('"')) return fail('a cell with a quote must be quoted, and the quote be doubled')
      at += cell.length
    }
    cells.push(cell)
    if (at === line.length) return cells
    at++
  }
}

const formatCell = (cell: string) =>
  /[",\r\n]/.test(cell) || cell !== cell.trim() ? `"${cell.replaceAll('"', '""')}"` : cell

/** Returns the line of cells, with its line break. */
export const formatLine = (cells: readonly string[]): string => `${cells.map(formatCell).join(',')}\r\n`
