import { open, readdir, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

// `room` in the file name means free space.
const PROBE_FILE = 'room.probe'
const FILL_CHUNK = Buffer.alloc(1_048_576, 1)
// Space for other files of LevelDB: a manifest, an index (bytes).
const OVERHEAD_BYTES = 65_536

/**
 * True if a data folder has space for the contents of LevelDB's logs. LevelDB writes them as tables when it reopens.
 */
export async function hasFreeSpace(folder: string): Promise<boolean> {
  try {
    const needed = (await getLogBytes(join(folder, 'level'))) + OVERHEAD_BYTES
    const { bavail, bsize } = await statfs(folder)
    // `statfs` comes first, because `canWrite` takes the last free bytes from other programs for a moment.
    return bavail * bsize >= needed && (await canWrite(join(folder, PROBE_FILE), needed))
  } catch {
    return false
  }
}

/** Returns the size of all LevelDB logs in this folder (bytes). */
export async function getLogBytes(folder: string): Promise<number> {
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log'))
  // LevelDB may have deleted a log meanwhile.
  const sizes = await Promise.all(
    logs.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Tests free space by a write, because `statfs` does not know quotas and the limits of the process. */
async function canWrite(file: string, bytes: number): Promise<boolean> {
  try {
    await fillFile(file, bytes)
    return true
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * Writes a file of this size, synced to the disk: its space is reserved until the file is removed.
 * @throws Error if the disk is full
 */
export async function fillFile(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (let left = bytes; left > 0; left -= FILL_CHUNK.length)
      await handle.writeFile(FILL_CHUNK.subarray(0, Math.min(left, FILL_CHUNK.length)))
    await handle.sync()
  } finally {
    await handle.close()
  }
}
