import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SeededRandom } from '../random.ts'
import { DiskModel, FOLDER, type NameSyncMode, type FileTree } from './disk-model.ts'
import { getContent, TracedFile } from './traced-file.ts'
import type { SystemCall } from './system-call.ts'

/** Contents of a folder after a power cut: bytes by path, `undefined` for a folder. */
export type CrashImage = ReadonlyMap<string, Buffer | undefined>

/** Unsynced data that survives: none, all, or a random part of each file. */
type SurvivalMode = 'none' | 'all' | 'some'
const SURVIVAL_MODES: readonly SurvivalMode[] = ['none', 'none', 'some', 'some', 'some', 'all']
const NAME_SYNC_MODES: readonly NameSyncMode[] = ['journal', 'file']
// A file may have its new length on the disk before its new bytes.
const ZEROS_ONE_IN = 4

/** The folder `root`, which initially held `base`, after a power cut when `calls` were done up to some moment. */
export function simulatePowerCut(
  root: string,
  base: FileTree,
  calls: readonly SystemCall[],
  count: number,
  random: SeededRandom,
): CrashImage {
  const disk = new DiskModel(root, base, random.one(NAME_SYNC_MODES))
  for (let i = 0; i < count; i++) disk.take(calls[i]!)
  return createCrashImage(disk, random)
}

/** Possible contents of the disk after a power cut. */
export function createCrashImage(disk: DiskModel, random: SeededRandom): CrashImage {
  const survivalMode = random.one(SURVIVAL_MODES)
  const survives = (sure: number, done: number) =>
    survivalMode === 'none' ? sure : survivalMode === 'all' ? done : sure + random.below(done - sure + 1)
  const { done, committed } = disk.names
  const remains = new Map<string, Buffer | undefined>()
  for (const [path, entry] of disk.getTreeAfter(survives(committed, done))) {
    remains.set(path, entry === FOLDER ? undefined : getSurvivingContent(entry))
  }
  return remains

  function getSurvivingContent(file: TracedFile): Buffer {
    const { changes, synced } = file
    const survivingCount = survives(synced, changes.length)
    const next = changes[survivingCount]
    if (survivalMode !== 'some' || !next || !('bytes' in next)) return getContent(file, survivingCount)
    const zeros = random.below(ZEROS_ONE_IN) === 0
    return getContent(file, survivingCount, random.below(next.bytes.length), zeros ? file.size : 0)
  }
}

/** Creates a folder with the crash image of another one. */
export function writeCrashImage(remains: CrashImage, from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const [path, bytes] of remains) {
    const target = join(to, path.slice(from.length))
    mkdirSync(bytes ? dirname(target) : target, { recursive: true })
    if (bytes) writeFileSync(target, bytes)
  }
}

/** Contents of a folder, all of them on the disk. */
export function readTree(folder: string): FileTree {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isDirectory() ? FOLDER : TracedFile.fromBytes(readFileSync(path))]
    }),
  )
}
