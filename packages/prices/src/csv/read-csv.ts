import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'
import { formatHeading, parseHeadings, parseCell, type CsvColumn } from './columns.ts'
import { splitCells } from './csv-cells.ts'
import { CsvLineReader, type CsvLine } from './csv-line-reader.ts'

/**
 * Converts a CSV file of prices into lines of JSON. Each line has the number that it has in the file: empty lines take
 * the places of the headings and of line breaks in cells.
 * @throws Problem `BAD_LINE`
 */
export async function* convertCsv(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new CsvLineReader()
  let columns: readonly CsvColumn[] | undefined
  function convert(lines: readonly CsvLine[]): Uint8Array {
    let text = ''
    for (const line of lines) {
      if (columns) text += toPriceLine(line, columns)
      else columns = readHeadings(line)
      text += '\n'.repeat(line.height)
    }
    return Buffer.from(text)
  }
  for await (const chunk of chunks) yield convert(reader.addChunk(chunk))
  yield convert(reader.end())
}

function readHeadings(line: CsvLine): readonly CsvColumn[] {
  const headings = splitCells(line.text)
  if (!Array.isArray(headings)) throw toProblem(line, headings.detail, `column ${headings.column + 1}`)
  const columns = parseHeadings(headings)
  if (typeof columns === 'string') throw toProblem(line, columns)
  return columns
}

/** Returns the JSON of a line; an empty text for a line without contents. */
function toPriceLine(line: CsvLine, columns: readonly CsvColumn[]): string {
  const cells = splitCells(line.text)
  const nameColumn = (column: number) =>
    columns[column] ? `column ${formatReceived(formatHeading(columns[column]))}` : `column ${column + 1}`
  if (!Array.isArray(cells)) throw toProblem(line, cells.detail, nameColumn(cells.column))
  if (cells.every((cell) => cell === '')) return ''
  if (cells.length !== columns.length)
    throw toProblem(line, `must have ${columns.length} cells, as the headings; received ${cells.length}`)
  const fields: string[] = []
  const charValues: string[] = []
  for (const [i, cell] of cells.entries()) {
    if (cell === '') continue
    const column = columns[i]!
    const result = parseCell(cell, column)
    if ('detail' in result) throw toProblem(line, result.detail, nameColumn(i))
    if (column.char === undefined) fields.push(`"${column.field}":${result.json}`)
    else charValues.push(`{"char":${JSON.stringify(column.char)},"value":${result.json}}`)
  }
  return `{"charValues":[${charValues.join()}],${fields.join()}}`
}

function toProblem({ number }: CsvLine, why: string, column?: string): Problem {
  return errors.BAD_LINE(`line ${number}${column ? `, ${column}` : ''}: ${why}`)
}
