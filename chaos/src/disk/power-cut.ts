import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SeededRandom } from '../random.ts'
import { DiskModel, FOLDER, type NameSyncMode, type FileTree } from './disk-model.ts'
import { getContent, TracedFile } from './traced-file.ts'
import type { SystemCall } from './system-call.ts'

/** Contents of a folder after a power cut: bytes by path; undefined for a folder. */
export type CrashImage = ReadonlyMap<string, Buffer | undefined>

/** Unsynced data that survives: none, all, or a random part of the name changes and of each file. */
type SurvivalMode = 'none' | 'all' | 'some'
const SURVIVAL_MODES: readonly SurvivalMode[] = ['none', 'none', 'some', 'some', 'some', 'all']
const NAME_SYNC_MODES: readonly NameSyncMode[] = ['journal', 'file']
// A file may have its new length on the disk before its new bytes, which are then zeros.
const ZEROS_ONE_IN = 4

/**
 * Simulates a power cut. Returns the folder `root` as it may be after the first `count` of the system calls.
 * @param base contents of the folder before the calls, all of them on the disk
 */
export function simulatePowerCut(
  root: string,
  base: FileTree,
  calls: readonly SystemCall[],
  count: number,
  random: SeededRandom,
): CrashImage {
  const disk = new DiskModel(root, base, random.one(NAME_SYNC_MODES))
  for (let i = 0; i < count; i++) disk.apply(calls[i]!)
  return createCrashImage(disk, random)
}

/** Returns possible contents of the disk after a power cut. */
export function createCrashImage(disk: DiskModel, random: SeededRandom): CrashImage {
  const survivalMode = random.one(SURVIVAL_MODES)
  /** Picks how many of `done` changes survive, of which `synced` are certainly on the disk. */
  const pickSurviving = (synced: number, done: number) =>
    survivalMode === 'none' ? synced : survivalMode === 'all' ? done : synced + random.below(done - synced + 1)
  const { done, committed } = disk.nameChanges
  const contents = new Map<string, Buffer | undefined>()
  for (const [path, entry] of disk.getTreeAfter(pickSurviving(committed, done))) {
    contents.set(path, entry === FOLDER ? undefined : getSurvivingContent(entry))
  }
  return contents

  function getSurvivingContent(file: TracedFile): Buffer {
    const { changes, synced } = file
    const survivingCount = pickSurviving(synced, changes.length)
    const next = changes[survivingCount]
    if (survivalMode !== 'some' || !next || !('bytes' in next)) return getContent(file, survivingCount)
    const zeros = random.below(ZEROS_ONE_IN) === 0
    return getContent(file, survivingCount, random.below(next.bytes.length), zeros ? file.size : 0)
  }
}

/** Creates the folder `to` with the crash image of the folder `from`. */
export function writeCrashImage(image: CrashImage, from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const [path, bytes] of image) {
    const target = join(to, path.slice(from.length))
    mkdirSync(bytes ? dirname(target) : target, { recursive: true })
    if (bytes) writeFileSync(target, bytes)
  }
}

/** Reads the contents of a folder. All of them count as synced. */
export function readTree(folder: string): FileTree {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isDirectory() ? FOLDER : TracedFile.fromBytes(readFileSync(path))]
    }),
  )
}
