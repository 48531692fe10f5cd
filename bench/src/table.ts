import type { Columns } from './report/columns.ts'
import { REQUEST_COLUMNS } from './rounds/request-round.ts'
import type { BenchRow } from './row.ts'
import type { Spec } from './spec.ts'

/** Pairs of rows: the report has the ratio of the first row to the second, with its interval. */
export type Steps = readonly (readonly [of: string, against: string])[]

/** A table of a service: its rows, measured in one run. */
export interface BenchTable {
  readonly service: string
  readonly name: string
  /** Title in the report, which adds the full stop. */
  readonly title: string
  /**
   * The commands that measure the table: `always`: every command; `named`: commands that name its service, such as
   * `pnpm bench kv`; `full`, `peers`, `growth`: commands with this flag.
   */
  readonly when: 'always' | 'named' | 'full' | 'peers' | 'growth'
  readonly columns: Columns
  /** Fixed steps, or a function of the names of the measured rows. */
  readonly steps?: Steps | ((names: readonly string[]) => Steps)
  /** Maximum number of rounds, regardless of the arguments. For tables whose rounds take long. */
  readonly maxRounds?: number
  /** Tables of a service with the same group are measured together, in one run and with the same rows. */
  readonly group?: string
  /** Returns the class of a row. Rows of different classes have different paces, although a step compares them. */
  readonly paceClass?: (row: string) => string
  /** True to start the targets of a round at the same time. */
  readonly together?: boolean
  /** Metric of the x axis of the plots, such as the size of the data. */
  readonly against?: string
  /**
   * Returns the rows.
   * @param specs variants of the service that the command names. A table about variants has a row for each, and rows
   *   for other programs
   */
  rows(specs: readonly Spec[]): BenchRow[]
}

/** Returns the name of a row as reports print it. */
export const toRowTitle = ({ service, name }: Pick<BenchTable, 'service' | 'name'>, row: string): string =>
  `${service}/${name}: ${row}`

/** Returns the steps of a table. @param names names of the measured rows */
export const listSteps = ({ steps = [] }: Pick<BenchTable, 'steps'>, names: readonly string[]): Steps =>
  typeof steps === 'function' ? steps(names) : steps

/** Rounds of a table whose ratios, if any, do not come from them: enough for a median, a minimum and a maximum. */
const ROUNDS_FOR_SPREAD = 3

/** True if the ratios of a table are of the costs of requests, so that its rows can be loaded in turn. */
export const hasPairs = ({ columns }: Pick<BenchTable, 'columns'>): boolean => columns.cpu === REQUEST_COLUMNS.cpu

/** Returns the maximum number of rounds of a table. It is unlimited if ratios are computed from rounds, without a limit. */
export const getMaxRounds = (table: BenchTable): number =>
  table.maxRounds ?? (table.steps && !hasPairs(table) ? Infinity : ROUNDS_FOR_SPREAD)

const TABLE_DEFAULTS = { when: 'full', columns: REQUEST_COLUMNS } as const
type DefaultKey = keyof typeof TABLE_DEFAULTS | 'service'

/** A table without its service. By default it has the columns of requests, and is measured with `--full`. */
export type ServiceTable = Omit<BenchTable, DefaultKey> & Partial<Pick<BenchTable, DefaultKey>>

/** Adds the service and the defaults to tables. */
export const toTables = (service: string, ...tables: readonly (readonly ServiceTable[])[]): BenchTable[] =>
  tables.flat().map((table) => ({ service, ...TABLE_DEFAULTS, ...table }))

/** A workload of a service: returns the row of a variant. */
export type Workload = (spec: Spec) => BenchRow
