import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { KvClient } from '../client.ts'
import { eachLine } from '../core/each-line.ts'
import { MAX_KEY } from '../core/limits.ts'
import { parseLine } from '../core/lines.ts'
import type { EntryProgress } from './progress.ts'

// One request each; a line that is larger goes alone.
const BATCH_BYTES = 1_048_576
const NEWLINE = Buffer.from('\n')

/**
 * Sends every line of a file to the service, in batches. The lines before a bad one are in the base then.
 * @throws Error that names the number of a line that is not a change
 */
export async function importFrom(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  const { size } = await stat(file)
  let batch: Buffer[] = []
  let batchBytes = 0
  let lines = 0
  let entries = 0
  let done = 0

  async function send(): Promise<void> {
    if (batch.length === 0) return
    await client.batchLines(Buffer.concat(batch))
    entries += batch.length / 2
    done += batchBytes
    progress.update(entries, done, size)
    batch = []
    batchBytes = 0
  }

  for await (const line of eachLine(createReadStream(file, { highWaterMark: BATCH_BYTES }))) {
    lines++
    if (line.length === 0) continue
    // Looked at here, too: the service knows a line's number in its batch only.
    const op = parseLine(line.toString())
    const wrong = typeof op === 'string' ? op : op.key.length > MAX_KEY ? `its key is over ${MAX_KEY} bytes` : undefined
    if (wrong !== undefined) {
      await send()
      throw new Error(`line ${lines} of ${file}: ${wrong}`)
    }
    if (batchBytes + line.length > BATCH_BYTES) await send()
    batch.push(line, NEWLINE)
    batchBytes += line.length + 1
  }
  await send()
}
