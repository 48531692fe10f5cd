import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goProgram } from '../contenders/go.ts'
import { inOwnProcess } from '../load/common/own-process.ts'
import { temporaryFolder } from '../temporary.ts'
import { priceTable, type SearchPlan } from './price-table.ts'

/** Seconds: the program is made, and half a million rows are put before. */
const LIMIT = 600

const { path, build } = goProgram('duckdb', 'duckdb')

/** In DuckDB, in a program of its own. */
export function duckdbHere({ catalog, duration }: SearchPlan): number {
  build()
  using folder = temporaryFolder()
  const file = join(folder.path, 'prices.csv')
  const { columns, rows } = priceTable(catalog)
  const lines = Array.from(rows(), ({ words, value }) => `${words.join()},${value}\n`)
  writeFileSync(file, [`${columns.join()},value\n`, ...lines].join(''))
  const { status, stdout, stderr } = spawnSync(path, [file, String(duration)], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`DuckDB: ${stderr}`)
  return Number(stdout)
}

/** @returns nanoseconds a search. @throws Error when one found another row than it should */
export const runDuckdb = inOwnProcess(import.meta.url, duckdbHere, LIMIT)
