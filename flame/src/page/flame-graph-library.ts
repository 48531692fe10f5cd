import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

interface PackageManifest {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly dependencies?: Readonly<Record<string, string>>
}

const MAIN_PACKAGE = 'd3-flame-graph'

/** Returns the folder of a package, as the module `from` resolves it. */
function findPackageFolder(name: string, from: string): string {
  let folder = dirname(createRequire(from).resolve(name))
  while (!folder.endsWith(join('node_modules', name))) folder = dirname(folder)
  return folder
}

/** Adds the browser build of a package to `found`, after the builds of its dependencies. Each is added once. */
function collect(name: string, from: string, found: Map<string, string>): void {
  if (found.has(name)) return
  const folder = findPackageFolder(name, from)
  const manifest: PackageManifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  found.set(name, '')
  for (const needed of Object.keys(manifest.dependencies ?? {})) collect(needed, join(folder, 'package.json'), found)
  const file = name === MAIN_PACKAGE ? 'd3-flamegraph.umd.min.js' : `${name}.min.js`
  const code = readFileSync(join(folder, 'dist', file), 'utf8')
  found.delete(name)
  found.set(name, `/* ${name} ${manifest.version}, ${manifest.license} */\n${code}`)
}

/** Returns d3-flame-graph with the required parts of d3, as one script that sets the globals `d3` and `flamegraph`. */
export function readFlameGraphLibrary(): string {
  const found = new Map<string, string>()
  collect(MAIN_PACKAGE, import.meta.filename, found)
  return [...found.values()].join('\n')
}
