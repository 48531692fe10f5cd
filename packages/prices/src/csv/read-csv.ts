import { formatReceived } from '@influencer-stats/runtime/received-value'
import { refuseLine } from '../invalid-line.ts'
import { formatHeading, parseCell, parseHeadings, type CsvColumn } from './columns.ts'
import { splitCells } from './csv-cells.ts'
import { CsvLineReader, type CsvLine } from './csv-line-reader.ts'

/**
 * Converts a CSV file of prices into lines of JSON. Each line has the number that it has in the file: empty lines take
 * the places of the headings, of invalid lines and of line breaks in cells.
 * @param onInvalid by default the first invalid line is a Problem `BAD_LINE`. Otherwise the file ends after invalid
 * headings
 */
export async function* convertCsv(
  chunks: AsyncIterable<Uint8Array>,
  onInvalid = refuseLine,
): AsyncGenerator<Uint8Array> {
  const reader = new CsvLineReader(onInvalid)
  let columns: readonly CsvColumn[] | undefined
  let isReadable = true
  function convert(lines: readonly CsvLine[]): Uint8Array {
    let text = ''
    for (const line of lines) {
      const result = columns ? toPriceLine(line, columns) : readHeadings(line)
      if ('reason' in result) {
        onInvalid(line.number, result.reason)
        isReadable = columns !== undefined
        if (!isReadable) break
      } else if ('columns' in result) columns = result.columns
      else text += result.json
      text += '\n'.repeat(line.height)
    }
    return Buffer.from(text)
  }
  for await (const chunk of chunks) {
    yield convert(reader.addChunk(chunk))
    if (!isReadable) return
  }
  yield convert(reader.end())
}

interface Invalid {
  readonly reason: string
}

function readHeadings(line: CsvLine): { readonly columns: readonly CsvColumn[] } | Invalid {
  const headings = splitCells(line.text)
  if (!Array.isArray(headings)) return { reason: `column ${headings.column + 1}: ${headings.detail}` }
  const columns = parseHeadings(headings)
  return typeof columns === 'string' ? { reason: columns } : { columns }
}

/** Returns the JSON of a line; an empty text for a line without contents. */
function toPriceLine(line: CsvLine, columns: readonly CsvColumn[]): { readonly json: string } | Invalid {
  const cells = splitCells(line.text)
  const nameColumn = (column: number) =>
    columns[column] ? `column ${formatReceived(formatHeading(columns[column]))}` : `column ${column + 1}`
  if (!Array.isArray(cells)) return { reason: `${nameColumn(cells.column)}: ${cells.detail}` }
  if (cells.every((cell) => cell === '')) return { json: '' }
  if (cells.length !== columns.length)
    return { reason: `must have ${columns.length} cells, as the headings; received ${cells.length}` }
  const fields: string[] = []
  const charValues: string[] = []
  for (const [i, cell] of cells.entries()) {
    if (cell === '') continue
    const column = columns[i]!
    const result = parseCell(cell, column)
    if ('detail' in result) return { reason: `${nameColumn(i)} ${result.detail}` }
    if (column.char === undefined) fields.push(`"${column.field}":${result.json}`)
    else charValues.push(`{"char":${JSON.stringify(column.char)},"value":${result.json}}`)
  }
  return { json: `{"charValues":[${charValues.join()}],${fields.join()}}` }
}
