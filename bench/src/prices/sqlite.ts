import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { inOwnProcess } from '../load/common/own-process.ts'
import { randomOf } from '../load/requests/drawers.ts'
import { sizeOf, type CatalogPlan } from './catalogs.ts'
import type { Batch } from './lookup-cases.ts'
import { time } from './lookups.ts'
import { priceTable, type SearchPlan } from './price-table.ts'

/** Seconds: half a million rows are put before. */
const LIMIT = 300

/** In SQLite. */
export function sqliteHere({ catalog, duration }: SearchPlan): number {
  const { find, wordsOf } = fill(catalog)
  const random = randomOf(1)
  function make(count: number): Batch {
    const rows = Array.from({ length: count }, () => Math.floor(random() * sizeOf(catalog)))
    // Strings that were looked up before have their hash: each is made anew, as from a request.
    const asked = rows.map((row) => JSON.parse(JSON.stringify(wordsOf[row])) as string[])
    const found: unknown[] = []
    return {
      run() {
        for (const words of asked) found.push(find.get(...words))
      },
      right: () => rows.filter((row, i) => (found[i] as { value?: number } | undefined)?.value === row).length,
    }
  }
  time(make, duration)
  return time(make, duration)
}

/** @returns nanoseconds a search. @throws Error when one found another row than it should */
export const runSqlite = inOwnProcess(import.meta.url, sqliteHere, LIMIT)

/** A table with a column a condition, and one index over all of them. */
function fill(catalog: CatalogPlan): { find: StatementSync; wordsOf: (readonly string[])[] } {
  const database = new DatabaseSync(':memory:')
  const { columns, rows } = priceTable(catalog)
  const places = columns.map(() => '?').join()
  database.exec(`create table price (${columns.map((name) => `${name} text`).join()}, value integer); begin`)
  const insert = database.prepare(`insert into price values (${places}, ?)`)
  const wordsOf: (readonly string[])[] = []
  for (const { words, value } of rows()) {
    wordsOf.push(words)
    insert.run(...words, value)
  }
  database.exec(`commit; create unique index by_all on price (${columns.join()}, value)`)
  const find = database.prepare(`select value from price where ${columns.map((name) => `${name} = ?`).join(' and ')}`)
  return { find, wordsOf }
}
