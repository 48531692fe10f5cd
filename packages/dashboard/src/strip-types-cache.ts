import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir, stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** Node says once of each thread that this may change; it is pinned, and nobody who starts a service need know. */
function stripTypes(text: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(text)
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Nothing where there is no such file, or one that is not whole. */
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
 * A module in TypeScript as browsers take it. Node's compiler, once it is loaded, keeps 20 MB; so what it made is kept beside
 * what Node itself keeps of the modules that it has compiled, and it is not loaded again before a module changes.
 *
 * @param folder where that is: one for each version of Node; nothing where Node keeps nothing
 */
export function stripTypesCached(text: string, folder: string | undefined = getCompileCacheDir()): string {
  if (folder === undefined) return stripTypes(text)
  const file = join(folder, `page-${digest(text)}.js`)
  const cached = readCached(file)
  if (cached !== undefined) return cached
  const script = stripTypes(text)
  try {
    // One that is cut off is found out when it is read.
    writeFileSync(file, `${digest(script)}\n${script}`)
  } catch {
    // Where nothing may be written, or the disk is full, the next start takes longer.
  }
  return script
}
