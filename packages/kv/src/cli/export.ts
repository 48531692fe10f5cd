import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { KvClient } from '../client.ts'
import type { EntryProgress } from './progress.ts'

const NEWLINE = 0x0a

/** Writes every entry that was acknowledged before, by any node, to a file, a line each. The file is there whole or not at all. */
export async function exportTo(client: KvClient, file: string, progress: EntryProgress): Promise<void> {
  const draft = `${file}.${process.pid}`
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
  try {
    await pipeline(counted(await client.entryLines({ linearizable: true })), createWriteStream(draft, { flush: true }))
    progress.update(entries, bytes)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
