import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/**
 * Strips types and comments: without comments a page loads 20 KB less. Node warns once per thread that this API is experimental. The warning is suppressed, because the version of
 * Node is pinned.
 */
function stripTypes(text: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text, { mode: 'transform' })
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Reads a cached script. Undefined if the file does not exist or is incomplete. */
function readCached(file: string): string | undefined {
  let cached: string
  try {
    cached = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const end = cached.indexOf('\n')
  const script = cached.slice(end + 1)
  return cached.slice(0, end) === digest(script) ? script : undefined
}

/**
 * Converts a TypeScript module to JavaScript for browsers. Node's compiler occupies 20 MB after it is loaded. Therefore the
 * result is stored next to Node's own compile cache, and the compiler is not loaded again until a module changes.
 *
 * @param folder the cache folder, one for each version of Node; undefined if Node has no compile cache
 */
export function stripTypesCached(text: string, folder: string | undefined = getCompileCacheDir()): string {
  if (folder === undefined) return stripTypes(text)
  const file = join(folder, `page-script-${digest(text)}.js`)
  const cached = readCached(file)
  if (cached !== undefined) return cached
  const script = stripTypes(text)
  try {
    // The digest detects a truncated file when it is read.
    writeFileSync(file, `${digest(script)}\n${script}`)
  } catch {
    // If the folder is read-only or the disk is full, the next start takes longer.
  }
  return script
}
