import { ServiceError } from '@influencer-stats/runtime/service-error'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { KvClient } from '../client.ts'
import { readLines } from '../core/read-lines.ts'
import { MAX_KEY_BYTES } from '../core/key-limits.ts'
import { parseLine } from '../core/change-lines.ts'
import type { Command } from './command.ts'
import { withEntryProgress, type EntryProgress } from './entry-progress.ts'

/** `pnpm kv import FILE` */
export const importCommand: Command = {
  group: 'files',
  name: 'import',
  parameters: 'FILE',
  args: [1, 1],
  description: 'import of entries from an NDJSON file; - for stdin',
  async run({ args: [file], client }) {
    await withEntryProgress('imported', (progress) => importFrom(client(), file!, progress))
  },
}

// Size of a batch, which is one request (bytes). A larger line is sent alone.
const BATCH_BYTES = 1_048_576
const NEWLINE = Buffer.from('\n')

/** Lines of the file that are sent as one batch. */
interface ImportBatch {
  readonly lines: Buffer[]
  /** Their numbers in the file. */
  readonly numbers: number[]
  bytes: number
}

/** The service names a line by its number in the batch. */
const BAD_LINE_PATTERN = /^line (\d+): (.*)$/s

/** Returns the service's error with the line numbers of the file. */
function toImportError(error: unknown, { numbers }: ImportBatch, file: string): unknown {
  if (!(error instanceof ServiceError)) return error
  const [, line, reason = error.message] = BAD_LINE_PATTERN.exec(error.detail ?? '') ?? []
  const [first, last] = line ? [numbers[Number(line) - 1], undefined] : [numbers[0], numbers.at(-1)]
  const where = last === undefined || last === first ? `line ${first}` : `lines ${first} to ${last}`
  return new Error(`${where} of ${file}: ${reason}`, { cause: error })
}

/** Opens a file or standard input. Only a regular file has a `size` (bytes). */
async function openSource(file: string): Promise<{ chunks: AsyncIterable<Buffer>; size?: number }> {
  if (file === '-') return { chunks: process.stdin }
  const found = await stat(file)
  const chunks = createReadStream(file, { highWaterMark: BATCH_BYTES })
  return found.isFile() ? { chunks, size: found.size } : { chunks }
}

/**
 * Sends every line of a file to the service, in batches. On an error, the lines before the invalid line or before the
 * refused batch are stored.
 * @throws Error with the number of the invalid line, or the numbers of the refused lines
 */
export async function importFrom(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  const { chunks, size } = await openSource(file)
  const name = file === '-' ? 'standard input' : file
  const empty = (): ImportBatch => ({ lines: [], numbers: [], bytes: 0 })
  let batch = empty()
  let number = 0
  let entries = 0
  let done = 0

  async function send(): Promise<void> {
    if (batch.lines.length === 0) return
    try {
      await client.applyBatchLines(Buffer.concat(batch.lines.flatMap((line) => [line, NEWLINE])))
    } catch (error) {
      throw toImportError(error, batch, name)
    }
    entries += batch.lines.length
    done += batch.bytes
    progress.update(entries, done, size)
    batch = empty()
  }

  for await (const line of readLines(chunks)) {
    number++
    if (line.length === 0) continue
    // Parsed here, too, so that the lines before an invalid one are sent.
    const op = parseLine(line.toString())
    const wrong =
      typeof op === 'string' ? op : op.key.length > MAX_KEY_BYTES ? `its key exceeds ${MAX_KEY_BYTES} bytes` : undefined
    if (wrong !== undefined) {
      await send()
      throw new Error(`line ${number} of ${name}: ${wrong}`)
    }
    if (batch.bytes + line.length > BATCH_BYTES) await send()
    batch.lines.push(line)
    batch.numbers.push(number)
    batch.bytes += line.length + 1
  }
  await send()
}
