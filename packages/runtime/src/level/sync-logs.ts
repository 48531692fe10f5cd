import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from './data-format.ts'

/**
 * Makes everything that LevelDB has acknowledged safe from a power cut. LevelDB passes each record to the system before
 * it acknowledges the write, so a sync of its logs is enough. In addition to the current log there may be the previous
 * one, while LevelDB writes a table from it. A synced write does not sync the previous log. A log that is deleted
 * meanwhile has become a synced table.
 */
export async function syncLogs(folder: string): Promise<void> {
  const level = join(folder, 'level')
  const names = await readdir(level)
  await Promise.all(names.filter((name) => name.endsWith('.log')).map((name) => syncFile(join(level, name))))
  syncFolder(level)
}

async function syncFile(file: string): Promise<void> {
  const log = await open(file, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  try {
    await log?.datasync()
  } finally {
    await log?.close()
  }
}
