import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root folder of the project. In a container image it contains no reports. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const REPORT_PATTERNS = ['bench/report.html', 'flame/*/*/*/*.html']

/** The benchmark report and the flame graphs of this project, by their paths. */
export interface Reports {
  readonly paths: readonly string[]
  /** Reads a page. Undefined if it does not exist. */
  read(path: string): Promise<Buffer> | undefined
}

/** Lists the reports that exist now. */
export function findReports(): Reports {
  const paths = REPORT_PATTERNS.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules'] }).sort(),
  )
  return { paths, read: (path) => (paths.includes(path) ? readFile(join(ROOT, path)) : undefined) }
}
