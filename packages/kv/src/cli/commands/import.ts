import { ServiceError } from '@influencer-stats/runtime/service-error'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { KvClient } from '../../client.ts'
import { readLines } from '@influencer-stats/runtime/async/read-lines'
import { MAX_KEY_BYTES } from '../../core/key-limits.ts'
import { parseLine } from '../../core/change-lines.ts'
import type { Command } from '../common/command.ts'
import { withEntryProgress, type EntryProgress } from '../common/entry-progress.ts'

/** `pnpm kv import FILE` */
export const importCommand: Command = {
  group: 'files',
  name: 'import',
  parameters: 'FILE',
  args: [1, 1],
  description: 'import of entries from an NDJSON file; - for stdin',
  async run({ args: [file], getClient }) {
    await withEntryProgress('imported', (progress) => importFrom(getClient(), file!, progress))
  },
}

/** Maximum size of a batch, which is one request (bytes). A larger line is a batch by itself. */
const BATCH_BYTES = 1_048_576
const NEWLINE = Buffer.from('\n')

/** Lines of the file that are sent as one batch. */
interface ImportBatch {
  readonly lines: Buffer[]
  /** Line numbers in the file. */
  readonly numbers: number[]
  /** Size of the lines with their newlines. */
  bytes: number
}

/** Detail of an error for one line: the service states its number in the batch. */
const BAD_LINE_PATTERN = /^line (\d+): (.*)$/s

/** Returns the service's error with line numbers of the file in place of those of the batch. */
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
 * Sends every line of a file to the service, in batches. If a line is invalid, all lines before it are stored. If the
 * service refuses a batch, all lines before the batch are stored.
 * @throws Error with the number of the invalid line, or the numbers of the lines of the refused batch
 */
export async function importFrom(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  const { chunks, size } = await openSource(file)
  const name = file === '-' ? 'standard input' : file
  const createEmptyBatch = (): ImportBatch => ({ lines: [], numbers: [], bytes: 0 })
  let batch = createEmptyBatch()
  let number = 0
  let entries = 0
  let sentBytes = 0

  async function send(): Promise<void> {
    if (batch.lines.length === 0) return
    try {
      await client.applyBatchLines(Buffer.concat(batch.lines.flatMap((line) => [line, NEWLINE])))
    } catch (error) {
      throw toImportError(error, batch, name)
    }
    entries += batch.lines.length
    sentBytes += batch.bytes
    progress.update(entries, sentBytes, size)
    batch = createEmptyBatch()
  }

  for await (const line of readLines(chunks)) {
    number++
    if (line.length === 0) continue
    // The service parses each line, too. This command does so first, so that it can send the lines before an invalid
    // one.
    const op = parseLine(line.toString())
    const fault =
      typeof op === 'string' ? op : op.key.length > MAX_KEY_BYTES ? `its key exceeds ${MAX_KEY_BYTES} bytes` : undefined
    if (fault !== undefined) {
      await send()
      throw new Error(`line ${number} of ${name}: ${fault}`)
    }
    if (batch.bytes + line.length > BATCH_BYTES) await send()
    batch.lines.push(line)
    batch.numbers.push(number)
    batch.bytes += line.length + 1
  }
  await send()
}
