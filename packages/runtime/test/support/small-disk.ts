import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A file system that can be full. */
export interface SmallDisk {
  /** Fills the disk up to the given number of free bytes. */
  fill(left: number): void
  free(): void
  makeReadOnly(): void
  unmount(): void
}

/** Mounts a small disk at a folder; `undefined` without the permission, which root has. */
export function mountSmallDisk(folder: string, megabytes: number): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const ballast = join(folder, 'ballast')
  return {
    fill(left) {
      const { bavail, bsize } = statfsSync(folder)
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - left), 1))
    },
    free: () => rmSync(ballast, { force: true }),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', folder]),
    unmount: () => void execFileSync('umount', ['-l', folder]),
  }
}
