import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../random.ts'
import { Disk, FOLDER, type NamesSynced, type Tree } from './disk.ts'
import { contentOf, File } from './files.ts'
import type { SystemCall } from './system-call.ts'

/** What a folder holds after a power cut: bytes by path, nothing for a folder. */
export type Remains = ReadonlyMap<string, Buffer | undefined>

/** How much of what was not synced is there after all: nothing, everything, or of each file whatever chance leaves. */
type Mercy = 'none' | 'all' | 'some'
const MERCIES: readonly Mercy[] = ['none', 'none', 'some', 'some', 'some', 'all']
const NAMES_SYNCED: readonly NamesSynced[] = ['journal', 'file']
// A file may have its new length on the disk before its new bytes.
const ZEROS_ONE_IN = 4

/** The folder `root`, which held `base`, after a power cut at the moment when so many of `calls` were done. */
export function afterPowerCut(
  root: string,
  base: Tree,
  calls: readonly SystemCall[],
  count: number,
  random: Random,
): Remains {
  const disk = new Disk(root, base, random.one(NAMES_SYNCED))
  for (let i = 0; i < count; i++) disk.take(calls[i]!)
  return remainsOf(disk, random)
}

/** What the disk may hold once the power is back. */
export function remainsOf(disk: Disk, random: Random): Remains {
  const mercy = random.one(MERCIES)
  const survives = (sure: number, done: number) =>
    mercy === 'none' ? sure : mercy === 'all' ? done : sure + random.below(done - sure + 1)
  const { done, committed } = disk.names
  const remains = new Map<string, Buffer | undefined>()
  for (const [path, entry] of disk.treeAfter(survives(committed, done))) {
    remains.set(path, entry === FOLDER ? undefined : survivingContent(entry))
  }
  return remains

  function survivingContent(file: File): Buffer {
    const { changes, synced } = file
    const kept = survives(synced, changes.length)
    const next = changes[kept]
    if (mercy !== 'some' || !next || !('bytes' in next)) return contentOf(file, kept)
    const zeros = random.below(ZEROS_ONE_IN) === 0
    return contentOf(file, kept, random.below(next.bytes.length), zeros ? file.size : 0)
  }
}

/** Makes a folder that holds what remained of another. */
export function layDown(remains: Remains, from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const [path, bytes] of remains) {
    const target = join(to, path.slice(from.length))
    mkdirSync(bytes ? dirname(target) : target, { recursive: true })
    if (bytes) writeFileSync(target, bytes)
  }
}

/** What lies in a folder, all of it on the disk. */
export function treeOf(folder: string): Tree {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, entry.isDirectory() ? FOLDER : File.of(readFileSync(path))]
    }),
  )
}
