import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../machine.ts'
import type { RowResult } from '../row.ts'
import type { BenchTable } from '../tables/table.ts'
import { listTableNames, toPresentRowName } from './renamed.ts'

const RESULTS_FOLDER = fileURLToPath(new URL('../../results/', import.meta.url))

/** A table's results and its machine. */
export interface PublishedTable {
  readonly table: BenchTable
  readonly machine: Machine
  readonly results: readonly RowResult[]
}

/** `<service>/<row>/<table>.json`: one row of one table, with all data to explain its origin. */
type ResultFile = RowResult & {
  readonly title: string
  /** Position in the table. */
  readonly place: number
  readonly machine: Machine
}

type TableId = Pick<BenchTable, 'service' | 'name'>

/** Name of a row as a folder name, and in a spec. */
export const toFolderName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9.-]+/g, '-').replaceAll(/^-+|-+$/g, '')
const listFiles = (table: TableId, folder: string) =>
  listTableNames(table)
    .flatMap((name) => globSync(`${table.service}/*/${name}.json`, { cwd: folder }))
    .map((file) => join(folder, file))

/** Writes a table's rows and removes its former ones. */
export function writeResults({ table, machine, results }: PublishedTable, folder = RESULTS_FOLDER): void {
  for (const file of listFiles(table, folder)) rmSync(file)
  for (const [position, result] of results.entries()) {
    const file = join(folder, table.service, toFolderName(result.name), `${table.name}.json`)
    const content: ResultFile = { title: table.title, place: position, machine, ...result }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`)
  }
}

/** Reads the stored results of the given tables, from any run. */
export function readResults(tables: readonly BenchTable[], folder = RESULTS_FOLDER): PublishedTable[] {
  return tables.flatMap((table) => {
    const rows = listFiles(table, folder).map((file): ResultFile => JSON.parse(readFileSync(file, 'utf8')))
    const results = rows
      .toSorted((a, b) => a.place - b.place)
      .map((row) => ({ ...row, name: toPresentRowName(row.name) }))
    return results[0] ? [{ table, machine: results[0].machine, results }] : []
  })
}
