import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { readMachineId } from './boot-id.ts'
import { syncFolder } from './data-format.ts'

// `level/identity.json` contains the numbers by which the system identifies this file and its folder. A copy of the
// file has other numbers, so its text does not match them. Each start and each orderly end of a process writes a new
// file. So a copy that is moved back to the original path has outdated numbers. `pnpm restore` creates a folder without
// the file.

const IDENTITY_FILE = 'identity.json'
const getLevelFolder = (folder: string) => join(folder, 'level')

/**
 * Returns the numbers that identify a file. They exclude the change time, so that a recursive chown of the folder does
 * not make it look like a copy.
 */
function formatIdentity({ dev, ino, birthtimeNs }: { dev: bigint; ino: bigint; birthtimeNs: bigint }): string {
  return `${dev}:${ino}:${birthtimeNs}`
}

const buildIdentity = (descriptor: number, folder: string): string =>
  JSON.stringify({
    file: formatIdentity(fstatSync(descriptor, { bigint: true })),
    folder: formatIdentity(statSync(folder, { bigint: true })),
    // A volume snapshot can have the same numbers on another machine.
    machine: readMachineId(),
  })

/**
 * True if the data in `<folder>/level` is the data that the last process left there. False for a new, restored, copied
 * or repaired folder, and for one that never had an identity. Call this before LevelDB opens the folder.
 *
 * A restored snapshot of the whole volume is not detected, because all numbers are then equal.
 */
export function hasSameIdentity(folder: string): boolean {
  const level = getLevelFolder(folder)
  let descriptor: number
  try {
    descriptor = openSync(join(level, IDENTITY_FILE), 'r')
  } catch {
    return false
  }
  try {
    return readFileSync(descriptor, 'utf8') === buildIdentity(descriptor, level)
  } finally {
    closeSync(descriptor)
  }
}

/** Records that the data belongs to this folder. Syncs the record to the disk. */
export function writeIdentity(folder: string): void {
  const level = getLevelFolder(folder)
  const draft = join(level, `${IDENTITY_FILE}.draft`)
  const descriptor = openSync(draft, 'w')
  try {
    writeSync(descriptor, buildIdentity(descriptor, level))
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(draft, join(level, IDENTITY_FILE))
  syncFolder(level)
}

/**
 * Marks the data as changed by a program other than the service, such as a repair. The next start begins a new history
 * (see `SharedLevel.isNewHistory`).
 */
export function clearIdentity(folder: string): void {
  const level = getLevelFolder(folder)
  rmSync(join(level, IDENTITY_FILE), { force: true })
  syncFolder(level)
}
