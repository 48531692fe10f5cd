import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { createProcessRunner } from '../load/common/process-runner.ts'
import { createRandom } from '../load/requests/drawers.ts'
import { getCatalogSize, type CatalogPlan } from '../load/requests/catalogs.ts'
import type { LookupBatch } from './lookup-cases.ts'
import { measureTime } from './lookups.ts'
import { createPriceTable, type SearchPlan } from './price-table.ts'

/** Maximum duration of a run (s), with the insertion of half a million rows. */
const MAX_RUN_S = 300

/** Measures SQLite in this process. @returns nanoseconds per search */
export function measureSqlite({ catalog, duration }: SearchPlan): number {
  const { find, wordsByRow } = fillDatabase(catalog)
  const random = createRandom(1)
  function make(count: number): LookupBatch {
    const rows = Array.from({ length: count }, () => Math.floor(random() * getCatalogSize(catalog)))
    // V8 caches the hash of a string that was looked up before. So the strings are created again, as those of a
    // request.
    const queries = rows.map((row) => JSON.parse(JSON.stringify(wordsByRow[row])) as string[])
    const found: unknown[] = []
    return {
      run() {
        for (const words of queries) found.push(find.get(...words))
      },
      countRight: () => rows.filter((row, i) => (found[i] as { value?: number } | undefined)?.value === row).length,
    }
  }
  measureTime(make, duration)
  return measureTime(make, duration)
}

/** Measures SQLite in a new process. @returns nanoseconds per search. @throws Error if a search found the wrong row */
export const runSqlite = createProcessRunner(import.meta.url, measureSqlite, MAX_RUN_S)

/** Creates a table with one column per condition, and one index over all of them. */
function fillDatabase(catalog: CatalogPlan): { find: StatementSync; wordsByRow: (readonly string[])[] } {
  const database = new DatabaseSync(':memory:')
  const { columns, readRows } = createPriceTable(catalog)
  const placeholders = columns.map(() => '?').join()
  database.exec(`create table price (${columns.map((name) => `${name} text`).join()}, value integer); begin`)
  const insert = database.prepare(`insert into price values (${placeholders}, ?)`)
  const wordsByRow: (readonly string[])[] = []
  for (const { words, value } of readRows()) {
    wordsByRow.push(words)
    insert.run(...words, value)
  }
  database.exec(`commit; create unique index by_all on price (${columns.join()}, value)`)
  const find = database.prepare(`select value from price where ${columns.map((name) => `${name} = ?`).join(' and ')}`)
  return { find, wordsByRow }
}
