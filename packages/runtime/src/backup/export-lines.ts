import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { readLines } from '../async/read-lines.ts'
import { StartError } from '../errors/common-errors.ts'

// An export is NDJSON. Its first line names the service and the format. Its last line has the number of lines before it
// and their SHA-256, so that a truncated or altered file is detected. The same data gives the same bytes.

/** First line of an export. */
export interface ExportHead {
  readonly export: string
  readonly format: number
}

/** Last line of an export. */
interface ExportEnd {
  readonly lines: number
  /** SHA-256 of all lines before this one, line ends included (hex). */
  readonly sha256: string
}

/** Size at which lines are passed on (bytes). */
const CHUNK_LENGTH = 65_536

/** Yields an export of lines of JSON, in chunks. */
export async function* writeExport(
  head: ExportHead,
  lines: AsyncIterable<object> | Iterable<object>,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let text = `${JSON.stringify(head)}\n`
  let count = 1
  const flush = () => {
    const bytes = Buffer.from(text)
    text = ''
    hash.update(bytes)
    return bytes
  }
  for await (const line of lines) {
    text += `${JSON.stringify(line)}\n`
    count++
    if (text.length >= CHUNK_LENGTH) yield flush()
  }
  yield flush()
  yield Buffer.from(`${JSON.stringify({ lines: count, sha256: hash.digest('hex') } satisfies ExportEnd)}\n`)
}

/**
 * Reads an export file, and checks it. Yields the lines between the first and the last. The caller must not use them
 * before the whole file was read once: the checksum is in the last line.
 * @throws StartError `EXPORT_DAMAGED`, `EXPORT_FOREIGN`
 */
export async function* readExport(file: string, { export: service, format }: ExportHead): AsyncGenerator<string> {
  const damaged = (detail: string) => new StartError('EXPORT_DAMAGED', `${file} is a damaged export: ${detail}`)
  const hash = createHash('sha256')
  let count = 0
  /** The line before: whether it is the last one is known only at the next. */
  let last: Buffer | undefined
  for await (const line of readLines(createReadStream(file))) {
    if (last !== undefined) {
      hash.update(last).update('\n')
      const text = last.toString()
      if (count++ === 0) checkHead(text)
      else yield text
    }
    last = line
  }
  const end = parseObject<ExportEnd>(last?.toString() ?? '')
  if (count === 0 || end?.sha256 === undefined) throw damaged('it is truncated')
  if (end.sha256 !== hash.digest('hex') || end.lines !== count) throw damaged('its checksum is wrong')

  function checkHead(line: string): void {
    const head = parseObject<ExportHead>(line)
    if (head?.export === undefined) throw damaged('it has no first line with the name of its service')
    if (head.export !== service || head.format !== format) {
      const expected = `an export of ${service} in format ${format}`
      throw new StartError('EXPORT_FOREIGN', `${file} is not ${expected}, but of ${head.export} in ${head.format}`)
    }
  }
}

function parseObject<T>(line: string): Partial<T> | undefined {
  try {
    return Object(JSON.parse(line))
  } catch {
    return undefined
  }
}

/**
 * Writes a file for its owner, complete or not at all: the data may contain secrets.
 * @param file `-` for standard output
 */
export async function writeExportFile(file: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  if (file === '-') return pipeline(chunks, process.stdout, { end: false })
  const draft = `${file}.${process.pid}`
  try {
    await pipeline(chunks, createWriteStream(draft, { flush: true, mode: 0o600 }))
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
