import type { KvClient } from '../client.ts'
import type { Command } from './command.ts'
import { withEntryProgress, type EntryProgress } from './entry-progress.ts'
import { writeOutputFile } from './output-file.ts'

const NEWLINE = 0x0a

/** `pnpm kv export FILE` */
export const exportCommand: Command = {
  group: 'files',
  name: 'export',
  parameters: 'FILE',
  args: [1, 1],
  description: 'export of all entries as NDJSON to a file; - for stdout',
  async run({ args: [file], client }) {
    await withEntryProgress('exported', (progress) => exportToFile(client(), file!, progress))
  },
}

/**
 * Writes every entry acknowledged before the call, by any node, to a file, one line each. A regular file is written
 * completely or not at all.
 */
export async function exportToFile(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  let entries = 0
  let bytes = 0
  async function* countChunks(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      for (let written = chunk.indexOf(NEWLINE); written >= 0; written = chunk.indexOf(NEWLINE, written + 1)) entries++
      bytes += chunk.length
      progress.update(entries, bytes)
      yield chunk
    }
  }
  await writeOutputFile(file, countChunks(await client.streamEntryLines({ linearizable: true })))
  progress.update(entries, bytes)
}
