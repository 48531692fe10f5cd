import { isDeepStrictEqual } from 'node:util'
import type { Expectation } from '../load/load-plan.ts'
import { toFolderName } from '../report/results.ts'
import type { BenchRow } from '../row.ts'
import { formatSpec, parseSpec, type Spec } from '../spec.ts'
import { listSteps, toRowTitle, type BenchTable } from '../table.ts'
import { tables, workloads } from './all.ts'

/** A row, and the table that has its columns. */
export interface FoundRow {
  readonly row: BenchRow
  readonly table: BenchTable
}

/** Separates the two rows in the name of a ratio. */
const RATIO_SEPARATOR = ' / '

/** Matches names of rows and ratios as tables print them: `kv/entity: GET, 1 connection`. */
const PRINTED_NAME = /^([a-z]+\/[a-z0-9-]+): (.+)$/

/**
 * Returns the row that a spec names: a variant and a workload (`kv/v4/get-full`), or a row and its table as at the end
 * of the path of the result file (`kv/bare-GET/entity`).
 *
 * @throws Error naming the valid names
 */
export function findRow(spec: Spec): FoundRow {
  const { service, variant, work = Object.keys(workloads[service] ?? {})[0]! } = spec
  const ofService = tables.filter((table) => table.service === service)
  const make = workloads[service]?.[work]
  if (make) return { row: { ...make(spec), name: `${formatSpec(spec)}/${work}` }, table: ofService[0]! }
  const table = ofService.find(({ name }) => name === work)
  const row = table?.rows([]).find(({ name }) => toFolderName(name) === variant)
  if (row) return { row: { ...row, name: `${service}/${variant}/${work}` }, table: table! }
  const known = [...Object.keys(workloads[service] ?? {}), ...ofService.map(({ name }) => name)]
  throw new Error(
    known.length > 0
      ? `there is no ${formatSpec(spec)}/${work}; ${service} has ${known.join(', ')}`
      : `there is no ${service}; there are ${[...new Set(tables.map((one) => one.service))].join(', ')}`,
  )
}

/** Returns the table of a printed name. @throws Error naming the tables */
function findTable(tableName: string): BenchTable {
  const table = tables.find(({ service, name }) => `${service}/${name}` === tableName)
  if (table) return table
  throw new Error(
    `there is no table ${tableName}; there are ${tables.map((one) => `${one.service}/${one.name}`).join(', ')}`,
  )
}

/** Returns a row by its name in a table. @throws Error naming the rows */
function findInTable(table: BenchTable, name: string): FoundRow {
  const rows = table.rows([])
  // Tables print the number of connections after a name without it.
  const row =
    rows.find((one) => one.name === name) ?? rows.find((one) => one.name === name.replace(/, \d+ connections?$/, ''))
  if (row) return { row: { ...row, name: toRowTitle(table, row.name) }, table }
  const known = rows.map((one) => `  ${toRowTitle(table, one.name)}`)
  throw new Error(`there is no row "${name}" in ${table.service}/${table.name}; its rows are\n${known.join('\n')}`)
}

/** Returns a row by the name that tables print, or by its spec. @throws Error naming the valid names */
function findByText(text: string): FoundRow {
  const [, tableName, name] = PRINTED_NAME.exec(text) ?? []
  return tableName === undefined ? findRow(parseSpec(text)) : findInTable(findTable(tableName), name!)
}

/**
 * Returns the two rows of a comparison.
 * @param texts the name of a ratio as tables and conclusions print it (`kv/entity: GET / bare GET`); or two rows, each by
 *   its printed name (`kv/entity: GET`) or its spec (`kv/v4/get-full`)
 * @throws Error naming the valid names, or because the rows give different answers
 */
export function findPair(texts: readonly string[]): readonly [FoundRow, FoundRow] {
  const [first = '', second] = texts
  const [, tableName, ratio] = PRINTED_NAME.exec(first) ?? []
  const [of, against] = ratio?.split(RATIO_SEPARATOR) ?? []
  if (second === undefined && against === undefined)
    throw new Error("compare takes two rows, or the name of a ratio: pnpm bench compare 'kv/entity: GET / bare GET'")
  const pair =
    second === undefined
      ? ([findByText(`${tableName}: ${of}`), findByText(`${tableName}: ${against}`)] as const)
      : ([findByText(first), findByText(second)] as const)
  assertComparable(...pair)
  return pair
}

/** True if a table compares the two rows itself. */
function isStep(a: FoundRow, b: FoundRow): boolean {
  if (a.table !== b.table) return false
  const names = a.table.rows([]).map(({ name }) => name)
  return listSteps(a.table, names).some(
    ([of, against]) => a.row.name.endsWith(`: ${of}`) && b.row.name.endsWith(`: ${against}`),
  )
}

const formatAnswer = ({ status, body, includes }: Expectation) =>
  [
    String(status),
    ...[body, includes].flatMap((text) => (text === undefined ? [] : [JSON.stringify(text.slice(0, 60))])),
  ].join(' ')

/** True if a reply can be the expected one of both. */
function canBeEqual(a: Expectation, b: Expectation): boolean {
  if (a.status !== b.status) return false
  if (a.body !== undefined && b.body !== undefined) return a.body === b.body
  return [a, b].every(
    ({ body }) => body === undefined || [a.includes, b.includes].every((text) => body.includes(text ?? '')),
  )
}

/** @throws Error if the rows have different figures or give different answers */
function assertComparable(a: FoundRow, b: FoundRow): void {
  if (isStep(a, b)) return
  const [name, other] = [a.row.name, b.row.name]
  if (!isDeepStrictEqual(Object.keys(a.table.columns), Object.keys(b.table.columns)))
    throw new Error(`${name} and ${other} have different figures, so they cannot be compared`)
  const [own, theirs] = [a.row.requests?.expect, b.row.requests?.expect]
  if ((own === undefined) !== (theirs === undefined) || (own === undefined && a.table !== b.table))
    throw new Error(`${name} and ${other} do different work, so they cannot be compared`)
  if (own && theirs && !canBeEqual(own, theirs))
    throw new Error(
      `${name} answers ${formatAnswer(own)}, ${other} answers ${formatAnswer(theirs)}: they cannot be compared`,
    )
}
