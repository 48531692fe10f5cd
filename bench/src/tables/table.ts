import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import type { Columns } from '../report/columns.ts'

/** A table of a service: its rows, measured in one run. */
export interface Table {
  readonly service: string
  readonly name: string
  /** What it shows, in a sentence. */
  readonly title: string
  /** When it is measured: with `pnpm bench <service>`, with `--full` as well, or only with `--peers` or `--growth`. */
  readonly when: 'always' | 'full' | 'peers' | 'growth'
  readonly columns: Columns
  /** Rows whose ratio is told with its interval: [of, against]. */
  readonly steps?: readonly (readonly [string, string])[]
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

/** A workload of a service: the row that any of its variants has under it. */
export type Work = (spec: Spec) => Row
