import { escape } from '../svg.ts'
import type { Cells } from '../table-cells.ts'

/** Converts a cell to HTML: code in backticks, links and bold text of Markdown, and lines. */
export const renderCell = (cell: string): string =>
  escape(cell)
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, '<a href="$2">$1</a>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<span class="behind">$1</span>')
    .replaceAll('\n', '<br>')

/**
 * Renders a table. Each cell has the heading of its column, which narrow screens show.
 * @param kind `texts` for tables of sentences
 */
export function renderTable([head, ...rows]: Cells, kind = ''): string {
  const heading = head!.map((cell) => `<th scope="col">${renderCell(cell)}</th>`).join('')
  const lines = rows.map((row) => {
    const cells = row.map((cell, i) => `<td data-label="${escape(head![i]!)}">${renderCell(cell)}</td>`)
    return `<tr>${cells.join('')}</tr>`
  })
  return `<div class="scroll" tabindex="0"><table class="${kind}"><tr class="head">${heading}</tr>${lines.join('\n')}</table></div>`
}

/** Renders a part that is closed at first. @param summary HTML */
export const renderDetails = (summary: string, content: string, id = ''): string =>
  `<details${id === '' ? '' : ` id="${id}"`}><summary>${summary}</summary>${content}</details>`
