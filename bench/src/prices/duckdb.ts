import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGoProgram } from '../targets/go.ts'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'
import { createPriceTable, type SearchPlan } from './price-table.ts'

/** Maximum duration of a run (s), with the build of the program and the insertion of half a million rows. */
const MAX_RUN_S = 600

const { path, build } = createGoProgram('duckdb', 'duckdb')

/** Measures DuckDB in a Go program. @returns nanoseconds per search */
export function measureDuckdb({ catalog, duration }: SearchPlan): number {
  build()
  using folder = createTemporaryFolder()
  const file = join(folder.path, 'prices.csv')
  const { columns, readRows } = createPriceTable(catalog)
  const lines = Array.from(readRows(), ({ words, value }) => `${words.join()},${value}\n`)
  writeFileSync(file, [`${columns.join()},value\n`, ...lines].join(''))
  const { status, stdout, stderr } = spawnSync(path, [file, String(duration)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`DuckDB: ${stderr}`)
  return Number(stdout)
}

/** Measures DuckDB in a new process. @returns nanoseconds per search. @throws Error if a search found the wrong row */
export const runDuckdb = createProcessRunner(import.meta.url, measureDuckdb, MAX_RUN_S)
