import type { Columns } from '../report/columns.ts'
import { REQUESTS } from '../rounds/requests.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'

/** Names of rows whose ratio is told with its interval: [of, against]. */
export type Steps = readonly (readonly [of: string, against: string])[]

/** A table of a service: its rows, measured in one run. */
export interface Table {
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
  readonly mostRounds?: number
  /** Whether the contenders of a round are started together. */
  readonly together?: boolean
  /** The figure that its rows grow by, where its columns are plotted against it. */
  readonly against?: string
  /**
   * @param specs what was asked for of the service: of a table about variants, these are its rows beside those that no
   * service answers for
   */
  rows(specs: readonly Spec[]): Row[]
}

/** Rounds of a table that tells no ratio: a median, a fastest and a slowest. */
const WITHOUT_RATIOS = 3

/** As many as are asked for, where it tells ratios and does not say otherwise. */
export const mostRounds = ({ mostRounds: most, steps }: Table): number => most ?? (steps ? Infinity : WITHOUT_RATIOS)

const USUAL = { when: 'full', columns: REQUESTS } as const
type Usual = keyof typeof USUAL | 'service'

/** A table as its file tells it: of requests, and measured with `--full`, unless it says otherwise. */
export type OwnTable = Omit<Table, Usual> & Partial<Pick<Table, Usual>>

/** Those of a service. */
export const belongTo = (service: string, ...tables: readonly (readonly OwnTable[])[]): Table[] =>
  tables.flat().map((table) => ({ service, ...USUAL, ...table }))

/** A workload of a service: the row that any of its variants has under it. */
export type Work = (spec: Spec) => Row
