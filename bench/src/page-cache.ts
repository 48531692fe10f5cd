import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

/** Has the system forget a folder's pages, which nothing may have mapped. @throws Error where `dd` cannot (GNU's can) */
export function evictPages(folder: string): void {
  for (const file of listFiles(folder)) {
    // A page that is not on the disk yet stays.
    const descriptor = openSync(file, 'r+')
    fsyncSync(descriptor)
    closeSync(descriptor)
    // posix_fadvise(DONTNEED) of the whole file, which Node has not.
    const { status } = spawnSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'])
    if (status !== 0) throw new Error('dd cannot evict pages here')
  }
}

/** Has the system keep a folder's pages. */
export function loadPages(folder: string): void {
  for (const file of listFiles(folder)) readFileSync(file)
}
