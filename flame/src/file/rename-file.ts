import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'

/**
 * Replaces the path of a source file in all recordings. Recordings name files by their current paths, so this follows
 * each renaming of a file that they name.
 * @param folder folder of the recordings
 * @returns number of changed files
 */
export function renameFile(former: string, current: string, folder: string): number {
  const pattern = new RegExp(`(?<=["(])${RegExp.escape(former)}(?=[":])`, 'g')
  let changed = 0
  for (const name of globSync('*/*/*/{hot.json,*.json.gz}', { cwd: folder })) {
    const file = join(folder, name)
    const isCompressed = name.endsWith('.gz')
    const text = String(isCompressed ? gunzipSync(readFileSync(file)) : readFileSync(file))
    const renamed = text.replace(pattern, () => current)
    if (renamed === text) continue
    writeFileSync(file, isCompressed ? gzipSync(renamed, { level: 9 }) : renamed)
    changed++
  }
  return changed
}
