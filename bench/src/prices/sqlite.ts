import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { inOwnProcess } from '../load/common/own-process.ts'
import { randomOf } from '../load/requests/drawers.ts'
import { charsOf, pricesOf, sizeOf, type CatalogPlan } from './catalogs.ts'
import type { Batch } from './lookup-cases.ts'
import { time } from './lookups.ts'

/** Complete searches for random rows of a catalog that lies in SQLite, in memory. */
export interface SqlitePlan {
  readonly catalog: CatalogPlan
  /** Seconds that are timed, and as many before. */
  readonly duration: number
}

/** Seconds: half a million rows are put before. */
const LIMIT = 300

export function sqliteHere({ catalog, duration }: SqlitePlan): number {
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
function fill(catalog: CatalogPlan): { find: StatementSync; wordsOf: string[][] } {
  const database = new DatabaseSync(':memory:')
  const columns = ['offering', 'kind', 'spec', ...Array.from({ length: charsOf(catalog) }, (_, i) => `c${i}`)]
  const places = columns.map(() => '?').join()
  database.exec(`create table price (${columns.map((name) => `${name} text`).join()}, value integer); begin`)
  const insert = database.prepare(`insert into price values (${places}, ?)`)
  const wordsOf: string[][] = []
  for (const { offeringId, groupId, priceSpecId, charValues, value } of pricesOf(catalog)) {
    const words = [offeringId, groupId, priceSpecId, ...charValues.map((pair) => String(pair.value))]
    wordsOf.push(words)
    insert.run(...words, value)
  }
  database.exec(`commit; create unique index by_all on price (${columns.join()}, value)`)
  const find = database.prepare(`select value from price where ${columns.map((name) => `${name} = ?`).join(' and ')}`)
  return { find, wordsOf }
}
