import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The project's root; in an image there is nothing of this. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const REPORT_PATTERNS = ['bench/report.html', 'flame/*/*/*/*.html']

/** Pages that tell what was measured of this project, by their paths: the bench's report and flame graphs. */
export interface Reports {
  readonly paths: readonly string[]
  /** Nothing where there is no such page. */
  read(path: string): Promise<Buffer> | undefined
}

/** Looks once for what there is. */
export function findReports(): Reports {
  const paths = REPORT_PATTERNS.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules'] }).sort(),
  )
  return { paths, read: (path) => (paths.includes(path) ? readFile(join(ROOT, path)) : undefined) }
}
