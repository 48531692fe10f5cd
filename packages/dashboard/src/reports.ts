import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { renderFlamePage } from './flame-page.ts'

/** Root folder of the project. In a container image it contains no reports. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FILE_PATTERNS = ['bench/report.html', 'flame/*/*/*/*.gz']

/** Reports are pages with inline scripts. These headers isolate them from this origin, its cookies and its page. */
export const REPORT_HEADERS = {
  'content-security-policy':
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'none'",
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
}

/** A page, and the coding of its bytes if it is compressed. */
export interface Report {
  readonly body: string | Buffer
  readonly coding?: 'gzip'
}

/** The benchmark report and the flame graphs of this project, by the paths of their pages. */
export type Reports = ReturnType<typeof findReports>

/** Reads a file. Undefined if it does not exist. */
const readIfPresent = (file: string): Promise<Buffer | undefined> =>
  readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return undefined
  })

/** Lists the reports that exist now. @param root folder of the project */
export function findReports(root = ROOT) {
  const files = FILE_PATTERNS.flatMap((pattern) =>
    globSync(pattern, { cwd: root, exclude: ['**/node_modules'] }).sort(),
  )
  const byPath = new Map(files.map((file) => [file.replace(/(\.html|\.json)\.gz$/, '.html'), file]))
  return {
    paths: [...byPath.keys()],
    /** Reads a page. Undefined if it does not exist. */
    async read(path: string): Promise<Report | undefined> {
      const file = byPath.get(path)
      const bytes = file && (await readIfPresent(join(root, file)))
      if (!file || !bytes) return undefined
      if (file.endsWith('.json.gz')) return { body: renderFlamePage(bytes) }
      return { body: bytes, ...(file.endsWith('.gz') && { coding: 'gzip' }) }
    },
  }
}
