import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { runInOwnProcess } from '../load/common/own-process.ts'
import { randomOf } from '../load/requests/drawers.ts'
import { charsOf, pricesOf, sizeOf, type CatalogPlan } from './catalogs.ts'

/** Complete searches for random rows of a catalog that lies in SQLite, in memory. */
export interface SqlitePlan {
  readonly catalog: CatalogPlan
  /** Seconds that are timed, and as many before. */
  readonly duration: number
  readonly pin?: readonly number[]
}

const LIMIT = 300_000
const BATCH = 100

/** @returns nanoseconds a search. @throws Error when one found another row than it should */
export const runSqlite = (plan: SqlitePlan): Promise<number> =>
  runInOwnProcess(import.meta.url, 'runSqliteHere', plan, LIMIT)

/** Runs inside this process. */
export function runSqliteHere({ catalog, duration }: SqlitePlan): number {
  const { find, wordsOf } = fill(catalog)
  const random = randomOf(1)
  const time = (): number => {
    let [taken, done] = [0, 0]
    for (const until = performance.now() + duration * 1000; done === 0 || performance.now() < until; done += BATCH) {
      const rows = Array.from({ length: BATCH }, () => Math.floor(random() * sizeOf(catalog)))
      // Strings that were looked up before have their hash: each is made anew, as from a request.
      const asked = rows.map((row) => JSON.parse(JSON.stringify(wordsOf[row])) as string[])
      const found: unknown[] = []
      const began = process.hrtime.bigint()
      for (const words of asked) found.push(find.get(...words))
      taken += Number(process.hrtime.bigint() - began)
      const wrong = rows.find((row, i) => (found[i] as { value?: number } | undefined)?.value !== row)
      if (wrong !== undefined) throw new Error(`row ${wrong} was not found`)
    }
    return taken / done
  }
  time()
  return time()
}

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
