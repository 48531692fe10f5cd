import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../machine.ts'
import type { RowResult } from '../row.ts'
import type { BenchTable } from '../table.ts'
import { listTableNames, toCurrentRowName } from './renamed.ts'

export const RESULTS_FOLDER = fileURLToPath(new URL('../../results/', import.meta.url))

/** The results of a table and the machine that measured them. A table may have results of several processor models. */
export interface PublishedTable {
  readonly table: BenchTable
  readonly machine: Machine
  readonly results: readonly RowResult[]
}

/** Contents of `<processor>/<service>/<row>/<table>.json`: the result of one row of one table, with the machine and the commit. */
type ResultFile = RowResult & {
  readonly title: string
  /** Position in the table. */
  readonly place: number
  readonly machine: Machine
}

/** Service and name of a table, as marks and sections of READMEs name it. */
export const getTableName = ({ table: { service, name } }: PublishedTable): string => `${service}/${name}`

type TableId = Pick<BenchTable, 'service' | 'name'>

/** Converts the name of a row to a folder name, which is also its name in a spec. */
export const toFolderName = (name: string): string =>
  name.replaceAll(/[^A-Za-z0-9.-]+/g, '-').replaceAll(/^-+|-+$/g, '')
const listFiles = (table: TableId, folder: string) =>
  listTableNames(table)
    .flatMap((name) => globSync(`${table.service}/*/${name}.json`, { cwd: folder }))
    .map((file) => join(folder, file))

/** Name of the folder with the results of a processor model. */
export const toModelFolder = ({ processor }: Machine): string => toFolderName(processor.toLowerCase())

/** Replaces the result files of a table. Files of other processor models remain. */
export function writeResults({ table, machine, results }: PublishedTable, root = RESULTS_FOLDER): void {
  const folder = join(root, toModelFolder(machine))
  for (const file of listFiles(table, folder)) rmSync(file)
  for (const [position, result] of results.entries()) {
    const file = join(folder, table.service, toFolderName(result.name), `${table.name}.json`)
    const content: ResultFile = { title: table.title, place: position, machine, ...result }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`)
  }
}

/** Reads the stored results of tables: the results of all processor models of a table follow each other. */
export function readResults(tables: readonly BenchTable[], root = RESULTS_FOLDER): PublishedTable[] {
  const folders = readdirSync(root)
    .toSorted()
    .map((model) => join(root, model))
  return tables.flatMap((table) => folders.flatMap((folder) => readTable(table, folder)))
}

/** @returns the published table; empty if the folder has no result of it */
function readTable(table: BenchTable, folder: string): PublishedTable[] {
  const rows = listFiles(table, folder).map((file): ResultFile => JSON.parse(readFileSync(file, 'utf8')))
  const results = rows
    .toSorted((a, b) => a.place - b.place)
    .map((row) => ({ ...row, name: toCurrentRowName(row.name) }))
  return results[0] ? [{ table, machine: results[0].machine, results }] : []
}
