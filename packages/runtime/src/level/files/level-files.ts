import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const LOG_NAME = /^(\d+)\.log$/
const TABLE_NAME = /^(\d+)\.(?:ldb|sst)$/
const MANIFEST_NAME = /^MANIFEST-(\d+)$/

const parseNumber = (pattern: RegExp, name: string): number | undefined => {
  const [, digits] = pattern.exec(name) ?? []
  return digits === undefined ? undefined : Number(digits)
}

export const parseManifestNumber = (name: string): number | undefined => parseNumber(MANIFEST_NAME, name)

/** Files of LevelDB in a folder, by number. */
export interface LevelFiles {
  readonly hasCurrent: boolean
  readonly logs: ReadonlyMap<number, string>
  readonly tables: ReadonlyMap<number, string>
  readonly manifests: ReadonlyMap<number, string>
}

/** Files in `<folder>/level`; empty if the folder is missing. */
export function listLevel(location: string): LevelFiles {
  const names = listNames(location)
  const matching = (pattern: RegExp) =>
    new Map(
      names
        .map((name): [number | undefined, string] => [parseNumber(pattern, name), name])
        .filter((pair): pair is [number, string] => pair[0] !== undefined)
        .toSorted(([a], [b]) => a - b),
    )
  return {
    hasCurrent: names.includes('CURRENT'),
    logs: matching(LOG_NAME),
    tables: matching(TABLE_NAME),
    manifests: matching(MANIFEST_NAME),
  }
}

function listNames(location: string): string[] {
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
