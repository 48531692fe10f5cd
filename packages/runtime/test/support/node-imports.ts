import { readFileSync } from 'node:fs'
import { createRequire, stripTypeScriptTypes } from 'node:module'
import { pathToFileURL } from 'node:url'

const SPECIFIER = /(?<![\w/.])(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g

/** Lists the modules of Node and the packages that a module needs, including its imports. Types do not count. */
export function listNodeImports(module: URL): string[] {
  const found = new Set<string>()
  const seen = new Set<string>()
  function walk({ href }: URL): void {
    if (seen.has(href)) return
    seen.add(href)
    const { resolve } = createRequire(href)
    for (const [, name] of stripTypeScriptTypes(readFileSync(new URL(href), 'utf8')).matchAll(SPECIFIER)) {
      if (name!.startsWith('.')) walk(new URL(name!, href))
      else if (name!.startsWith('@influencer-stats/')) walk(pathToFileURL(resolve(name!)))
      else found.add(name!)
    }
  }
  walk(module)
  return [...found]
}
