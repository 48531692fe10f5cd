import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/**
 * Evicts the files of a folder from the page cache, except pages that a process has mapped.
 * @throws Error if `dd` does not support this (`dd` of GNU does)
 */
export function evictPages(folder: string): void {
  for (const file of listFiles(folder)) {
    // Pages that are not on the disk yet cannot be evicted.
    const descriptor = openSync(file, 'r+')
    fsyncSync(descriptor)
    closeSync(descriptor)
    // `dd` calls posix_fadvise(DONTNEED) for the whole file, which Node cannot.
    const { status } = spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'])
    if (status !== 0) throw new Error('dd cannot evict pages here')
  }
}

/** Reads all files of a folder into the page cache. */
export function loadPages(folder: string): void {
  for (const file of listFiles(folder)) readFileSync(file)
}
