import type { KvClient } from '../client.ts'
import type { Command } from './command.ts'
import { withEntryProgress, type EntryProgress } from './progress.ts'
import { writeTarget } from './target.ts'

const NEWLINE = 0x0a

/** `pnpm kv export FILE` */
export const exportCommand: Command = {
  group: 'files',
  name: 'export',
  parameters: 'FILE',
  args: [1, 1],
  description: 'every entry, as NDJSON in a file; - for standard output',
  async run({ args: [file], client }) {
    await withEntryProgress('exported', (progress) => exportTo(client(), file!, progress))
  },
}

/**
 * Writes every entry acknowledged before the call, by any node, to a file, one line each. A regular file is written
 * completely or not at all.
 */
export async function exportTo(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  let entries = 0
  let bytes = 0
  async function* counted(pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) entries++
      bytes += piece.length
      progress.update(entries, bytes)
      yield piece
    }
  }
  await writeTarget(file, counted(await client.entryLines({ linearizable: true })))
  progress.update(entries, bytes)
}
