import type { KvClient } from '../../client.ts'
import type { Command } from '../common/command.ts'
import { withEntryProgress, type EntryProgress } from '../common/entry-progress.ts'
import { writeOutputFile } from '../common/output-file.ts'

const NEWLINE = 0x0a

/** `pnpm kv export FILE` */
export const exportCommand: Command = {
  group: 'files',
  name: 'export',
  parameters: 'FILE',
  args: [1, 1],
  description: 'export of all entries as NDJSON to a file; - for stdout',
  async run({ args: [file], getClient }) {
    await withEntryProgress('exported', (progress) => exportToFile(getClient(), file!, progress))
  },
}

/**
 * Writes all entries to a file, one line each, including every write that any node acknowledged before the call. A
 * regular file is written completely or not at all.
 */
export async function exportToFile(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  let entries = 0
  let bytes = 0
  async function* countChunks(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) entries++
      bytes += chunk.length
      progress.update(entries, bytes)
      yield chunk
    }
  }
  await writeOutputFile(file, countChunks(await client.streamEntryLines({ linearizable: true })))
  progress.update(entries, bytes)
}
