import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import { parseSync } from 'oxc-parser'

/** For each file, the files that it imports. */
export type ImportGraph = Map<string, Set<string>>

/** The modules that packages of the workspace export: pairs of a name, which may end in `*`, and a path. */
const exportedModules = globSync(['packages/*/package.json', '{bench,flame,chaos}/package.json']).flatMap((file) => {
  const { name, exports = {} } = JSON.parse(readFileSync(file, 'utf8'))
  return Object.entries<string>(exports).map(
    ([path, target]) => [join(name, path), join(dirname(file), target)] as const,
  )
})

/** Returns the path of an imported file of the workspace. Undefined for a file of another package. */
function resolveImport(importer: string, specifier: string): string | undefined {
  if (specifier.startsWith('.')) return join(dirname(importer), specifier)
  for (const [name, target] of exportedModules) {
    const [before, after] = name.split('*') as [string, string?]
    if (after === undefined ? specifier === name : specifier.startsWith(before)) {
      return target.replace('*', specifier.slice(before.length))
    }
  }
  return undefined
}

/** Returns the files of the workspace that a file imports: by value, by type, and through `import()`. */
export function readImports(file: string): Set<string> {
  const text = readFileSync(file, 'utf8')
  const { module } = parseSync(file, text)
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest?.value ?? [])),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ]
  const paths = specifiers.flatMap((specifier) => resolveImport(file, specifier) ?? [])
  return new Set(paths.filter((path) => path.endsWith('.ts') && existsSync(path)))
}

/** Returns the nodes of one cycle, the first also at the end. Undefined if there is no cycle. */
export function findCycle(graph: ImportGraph): string[] | undefined {
  const finished = new Set<string>()
  const path: string[] = []
  function visit(node: string): string[] | undefined {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (finished.has(node)) return undefined
    path.push(node)
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next)
      if (cycle) return cycle
    }
    path.pop()
    finished.add(node)
    return undefined
  }
  for (const node of graph.keys()) {
    const cycle = visit(node)
    if (cycle) return cycle
  }
  return undefined
}
