import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const LOG = /^(\d+)\.log$/
const TABLE = /^(\d+)\.(?:ldb|sst)$/
const MANIFEST = /^MANIFEST-(\d+)$/

const numberIn = (pattern: RegExp, name: string): number | undefined => {
  const [, digits] = pattern.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}

export const manifestNumber = (name: string): number | undefined => numberIn(MANIFEST, name)
export const logNumber = (name: string): number | undefined => numberIn(LOG, name)

/** Files of LevelDB in a folder, by number. */
export interface LevelFiles {
  readonly hasCurrent: boolean
  readonly logs: ReadonlyMap<number, string>
  readonly tables: ReadonlyMap<number, string>
  readonly manifests: ReadonlyMap<number, string>
}

/** Files in `<folder>/level`; empty if the folder is missing. */
export function listLevel(location: string): LevelFiles {
  const names = namesIn(location)
  const matching = (pattern: RegExp) =>
    new Map(
      names
        .map((name): [number | undefined, string] => [numberIn(pattern, name), name])
        .filter((pair): pair is [number, string] => pair[0] !== undefined)
        .toSorted(([a], [b]) => a - b),
    )
  return {
    hasCurrent: names.includes('CURRENT'),
    logs: matching(LOG),
    tables: matching(TABLE),
    manifests: matching(MANIFEST),
  }
}

function namesIn(location: string): string[] {
  try {
    return readdirSync(location)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code!)) return []
    throw error
  }
}

/** True if LevelDB has written files there. A start must never replace them. */
export function hasLevelData(folder: string): boolean {
  const { hasCurrent, logs, tables, manifests } = listLevel(join(folder, 'level'))
  return hasCurrent || logs.size + tables.size + manifests.size > 0
}
