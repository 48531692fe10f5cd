import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/** Evicts a folder's pages, which no process may have mapped. @throws Error if `dd` cannot (GNU's can) */
export function evictPages(folder: string): void {
  for (const file of listFiles(folder)) {
    // Pages that are not on the disk yet cannot be evicted.
    const descriptor = openSync(file, 'r+')
    fsyncSync(descriptor)
    closeSync(descriptor)
    // posix_fadvise(DONTNEED) of the whole file, which Node does not offer.
    const { status } = spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'])
    if (status !== 0) throw new Error('dd cannot evict pages here')
  }
}

/** Loads a folder's pages into the page cache. */
export function loadPages(folder: string): void {
  for (const file of listFiles(folder)) readFileSync(file)
}
