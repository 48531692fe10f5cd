import type { Columns } from '../report/columns.ts'
import { REQUEST_COLUMNS } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import type { Spec } from '../spec.ts'

/** Names of rows whose ratio is reported with its interval: [of, against]. */
export type Steps = readonly (readonly [of: string, against: string])[]

/** A table of a service: its rows, measured in one run. */
export interface BenchTable {
  readonly service: string
  readonly name: string
  /** Its subject. The report adds the final full stop. */
  readonly title: string
  /**
   * When it is measured: with `pnpm bench` and `pnpm bench <service>`; if its service is named; with `--full`; or only
   * with `--peers` or `--growth`.
   */
  readonly when: 'always' | 'named' | 'full' | 'peers' | 'growth'
  readonly columns: Columns
  /** Fixed, or derived from the names of the measured rows. */
  readonly steps?: Steps | ((names: readonly string[]) => Steps)
  /** Maximum number of rounds, regardless of the arguments: some take a minute each. */
  readonly maxRounds?: number
  /** True to start the targets of a round together. */
  readonly together?: boolean
  /** The metric by which its rows grow, and against which its columns are plotted. */
  readonly against?: string
  /**
   * @param specs the requested variants of the service: the rows of a table about variants, in addition to rows that no
   * service answers
   */
  rows(specs: readonly Spec[]): BenchRow[]
}

/** Rounds of a table without ratios: a median, a fastest and a slowest. */
const ROUNDS_WITHOUT_RATIOS = 3

/** Unlimited for a table with ratios, unless it sets a limit. */
export const getMaxRounds = ({ maxRounds: limit, steps }: BenchTable): number =>
  limit ?? (steps ? Infinity : ROUNDS_WITHOUT_RATIOS)

const TABLE_DEFAULTS = { when: 'full', columns: REQUEST_COLUMNS } as const
type DefaultKey = keyof typeof TABLE_DEFAULTS | 'service'

/** A table as its file defines it: by default about requests, and measured with `--full`. */
export type ServiceTable = Omit<BenchTable, DefaultKey> & Partial<Pick<BenchTable, DefaultKey>>

/** The tables of a service. */
export const toTables = (service: string, ...tables: readonly (readonly ServiceTable[])[]): BenchTable[] =>
  tables.flat().map((table) => ({ service, ...TABLE_DEFAULTS, ...table }))

/** A workload of a service: returns the row of a variant. */
export type Workload = (spec: Spec) => BenchRow
