// `pnpm imports`: checks the direction of imports, cycles (also those of types and of `import()`), and the size of files
// and folders.
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path/posix'
import { findCycle, readImports, type ImportGraph } from './imports/graph.ts'

/** The layers of the runtime in order. A layer imports only from itself and from layers before it. */
const RUNTIME_LAYERS = [
  'version.ts received-value.ts steady-clock.ts pacific-time.ts text-table.ts progress-line.ts trace.ts',
  ...'errors schema net async settings logging metrics memory client tracing limits tls'.split(' '),
  ...'level/files level level/integrity level/open'.split(' '),
  ...'http http/request http/replies http/server http/app'.split(' '),
  ...'channel backup service.ts worker/v8 worker pool supervisor cli'.split(' '),
].map((layer) => layer.split(' ').map((name) => `packages/runtime/src/${name}`))

const MAX_FILE_LINES = 300
const MAX_FOLDER_FILES = 16

const sources = globSync(['packages/*/src/**/*.ts', '{bench,flame,chaos,clients/*}/src/**/*.ts'])
const files = [
  ...sources,
  ...globSync([
    'packages/*/test/**/*.ts',
    '{bench,flame,chaos,clients/*}/test/**/*.ts',
    'scripts/**/*.ts',
    'clients/*/scripts/*.ts',
  ]),
]
const graph: ImportGraph = new Map(files.map((file) => [file, readImports(file)]))
const problems: string[] = []

const cycle = findCycle(graph)
if (cycle) problems.push(`Files import each other: ${cycle.join(' -> ')}`)

/**
 * Returns the folder below `src` that contains a file. Undefined for a file in `src` itself, which wires the folders or
 * is a contract of the whole package: only cycles of files limit its imports.
 */
const getFolder = (file: string) => /^.*?\/src\/[^/]+(?=\/)/u.exec(file)?.[0]
const folders: ImportGraph = new Map()
for (const file of sources) {
  const folder = getFolder(file)
  for (const target of folder ? graph.get(file)! : []) {
    const imported = getFolder(target)
    if (imported && imported !== folder) folders.set(folder!, (folders.get(folder!) ?? new Set()).add(imported))
  }
}
const folderCycle = findCycle(folders)
if (folderCycle) problems.push(`Folders import each other: ${folderCycle.join(' -> ')}`)

const getLayer = (file: string) =>
  RUNTIME_LAYERS.findIndex((paths) => paths.includes(file) || paths.includes(dirname(file)))
for (const file of sources.filter((name) => name.startsWith('packages/runtime/'))) {
  const layer = getLayer(file)
  if (layer < 0) problems.push(`${file} is in no layer of scripts/imports.ts`)
  for (const target of graph.get(file)!) {
    if (getLayer(target) > layer) problems.push(`${file} imports from a later layer: ${target}`)
  }
}

for (const file of files.filter((name) => !name.includes('/generated/'))) {
  const lines = readFileSync(file, 'utf8').split('\n').length - 1
  if (lines > MAX_FILE_LINES) problems.push(`${file} has ${lines} lines, more than ${MAX_FILE_LINES}`)
}
for (const [folder, members] of Map.groupBy(sources, dirname)) {
  if (members.length > MAX_FOLDER_FILES) {
    problems.push(`${folder} has ${members.length} files, more than ${MAX_FOLDER_FILES}`)
  }
}

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length > 0 ? 1 : 0
