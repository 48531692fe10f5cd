import { join } from 'node:path/posix'

const IMPORT_PATTERN = /\b(?:from|import)\s*["']([^"'\n]+)["']/g
const ON_DEMAND_PATTERN = /\bimport\(\s*["'](\.[^"'\n]+)["']\s*\)/g

/** The modules of the page and what they import: at once, or when they need it. */
export class ModuleGraph {
  readonly #imports = new Map<string, readonly string[]>()
  /** The modules that others import when they need them. */
  readonly onDemand: ReadonlySet<string>

  /**
   * @param files text of each file by its path
   * @param root what precedes the path of a file in an import that is not relative
   */
  constructor(files: ReadonlyMap<string, string>, root: string) {
    const onDemand = new Set<string>()
    for (const [path, text] of files) {
      const resolve = (name: string) => (name.startsWith(root) ? name.slice(root.length) : join(path, '..', name))
      const find = (pattern: RegExp) =>
        [...text.matchAll(pattern)].map(([, name]) => resolve(name!)).filter((found) => files.has(found))
      this.#imports.set(path, find(IMPORT_PATTERN))
      for (const found of find(ON_DEMAND_PATTERN)) onDemand.add(found)
    }
    this.onDemand = onDemand
  }

  /**
   * Modules and all that they import at once, in the order in which a browser runs them.
   * @param known modules to omit, with all that they import
   */
  list(paths: readonly string[], known: readonly string[] = []): string[] {
    const seen = new Set(known)
    const found: string[] = []
    const visit = (path: string) => {
      if (seen.has(path)) return
      seen.add(path)
      for (const imported of this.#imports.get(path) ?? []) visit(imported)
      found.push(path)
    }
    for (const path of paths) visit(path)
    return found
  }
}
