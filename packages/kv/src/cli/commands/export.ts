import type { KvClient } from '../../client.ts'
import { UsageError, type Command } from '../common/command.ts'
import { withEntryProgress, type EntryProgress } from '../common/entry-progress.ts'
import { writeOutputFile } from '../common/output-file.ts'

const NEWLINE = 0x0a
const LOG_UNAVAILABLE = 'LOG_UNAVAILABLE'

/** `pnpm kv export FILE` */
export const exportCommand: Command = {
  group: 'files',
  name: 'export',
  parameters: 'FILE',
  args: [1, 1],
  description: 'export of all entries as NDJSON to a file; - for stdout',
  flags: {
    'stop-writes': { type: 'boolean', description: 'the service refuses writes from the export on; see allow-writes' },
    from: { type: 'string', value: 'DIR', description: 'data folder of a stopped service, in place of --url' },
  },
  async run({ args: [file], getText, isSet, getClient }) {
    const from = getText('from')
    if (isSet('stop-writes')) {
      if (from !== undefined) throw new UsageError('--stop-writes needs a running service')
      await getClient().setWritesStopped(true)
      process.stderr.write('kv: the service refuses all writes, also after a restart, until `pnpm kv allow-writes`\n')
    }
    await withEntryProgress('exported', (progress) =>
      from === undefined ? exportToFile(getClient(), file!, progress) : exportFolder(from, file!, progress),
    )
  },
}

/** Writes all entries of a stopped service to a file. It loads LevelDB only when it runs. */
async function exportFolder(from: string, file: string, progress: EntryProgress): Promise<void> {
  const { readStoppedFolder } = await import('../../store/stopped-folder.ts')
  await writeEntries(file, readStoppedFolder(from), progress)
}

/**
 * Returns all entries, including every write that any node acknowledged before the call. A node that cannot reach its
 * log returns its own data, with a warning.
 */
async function readService(client: KvClient): Promise<AsyncIterable<Buffer>> {
  try {
    return await client.streamEntryLines({ linearizable: true })
  } catch (error) {
    if ((error as { code?: string }).code !== LOG_UNAVAILABLE) throw error
    process.stderr.write('kv: the node cannot reach its log; the export contains the data of this node\n')
    return client.streamEntryLines()
  }
}

/** Writes all entries to a file, one line each. A regular file is written completely or not at all. */
export async function exportToFile(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  await writeEntries(file, await readService(client), progress)
}

async function writeEntries(file: string, lines: AsyncIterable<Buffer>, progress: EntryProgress): Promise<void> {
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
  await writeOutputFile(file, countChunks(lines))
  progress.update(entries, bytes)
}
