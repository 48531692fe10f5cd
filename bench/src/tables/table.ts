import type { Columns } from '../report/columns.ts'
import { REQUEST_COLUMNS } from '../rounds/request-round.ts'
import type { BenchRow } from '../row.ts'
import type { Spec } from '../spec.ts'

/** Names of rows whose ratio is told with its interval: [of, against]. */
export type Steps = readonly (readonly [of: string, against: string])[]

/** A table of a service: its rows, measured in one run. */
export interface BenchTable {
  readonly service: string
  readonly name: string
  /** What it shows, in a sentence. */
  readonly title: string
  /**
   * When it is measured: with `pnpm bench` and `pnpm bench <service>`; where its service is named; with `--full`, or only
   * with `--peers` or `--growth`.
   */
  readonly when: 'always' | 'named' | 'full' | 'peers' | 'growth'
  readonly columns: Columns
  /** Told at once, or by the names of the rows that there are. */
  readonly steps?: Steps | ((names: readonly string[]) => Steps)
  /** The most rounds that it gets, whatever was asked: some take a minute each. */
  readonly maxRounds?: number
  /** Whether the contenders of a round are started together. */
  readonly together?: boolean
  /** The figure that its rows grow by, where its columns are plotted against it. */
  readonly against?: string
  /**
   * @param specs what was asked for of the service: of a table about variants, these are its rows beside those that no
   * service answers for
   */
  rows(specs: readonly Spec[]): BenchRow[]
}

/** Rounds of a table that tells no ratio: a median, a fastest and a slowest. */
const ROUNDS_WITHOUT_RATIOS = 3

/** As many as are asked for, where it tells ratios and does not say otherwise. */
export const getMaxRounds = ({ maxRounds: limit, steps }: BenchTable): number =>
  limit ?? (steps ? Infinity : ROUNDS_WITHOUT_RATIOS)

const TABLE_DEFAULTS = { when: 'full', columns: REQUEST_COLUMNS } as const
type DefaultKey = keyof typeof TABLE_DEFAULTS | 'service'

/** A table as its file tells it: of requests, and measured with `--full`, unless it says otherwise. */
export type ServiceTable = Omit<BenchTable, DefaultKey> & Partial<Pick<BenchTable, DefaultKey>>

/** Those of a service. */
export const toTables = (service: string, ...tables: readonly (readonly ServiceTable[])[]): BenchTable[] =>
  tables.flat().map((table) => ({ service, ...TABLE_DEFAULTS, ...table }))

/** A workload of a service: the row that any of its variants has under it. */
export type Workload = (spec: Spec) => BenchRow
