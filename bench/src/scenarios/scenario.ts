import type { FleetRow } from '../fleet-row.ts'
import type { FleetColumn } from '../report/fleet-table.ts'
import type { TrialColumns } from '../report/trial-table.ts'
import type { Row } from '../row.ts'
import type { Spec } from '../spec.ts'
import type { TrialRow } from '../trial-row.ts'

/** What all rows of a run share. */
export interface Backends {
  /** Where the stand-in for YouTube is. */
  readonly youtubeUri: string
}

/** A table of a service: its rows, measured in one run. */
export interface Table {
  readonly service: string
  readonly name: string
  /** What it shows, in a sentence. */
  readonly title: string
  /** Whether it belongs to `pnpm bench <service>`, or to `--full` alone. */
  readonly full: boolean
}

/** A table of requests and their replies. */
export interface Scenario extends Table {
  /** The generator of its closed loops, where it needs a certain one. */
  readonly generator?: string
  /** Rows whose ratio is told with its interval: [of, against]. */
  readonly steps?: readonly (readonly [string, string])[]
  rows(backends: Backends): Promise<Row[]>
  /** The row of any variant or combination of parts, where the table is about those; `compare` measures two such. */
  row?(spec: Spec, backends: Backends): Row
}

/** What was asked of a table of fleets. */
export interface FleetAsked {
  /** What to measure of the service. */
  readonly specs: readonly Spec[]
  /** Seconds that a server is saturated, and those before that are not measured. */
  readonly duration: number
  readonly warmUp: number
}

/** A table of open streams and what is sent to all of them; it has the columns that it names. */
export interface FleetScenario extends Table {
  readonly columns: readonly FleetColumn[]
  /** Whether rows are measured once, whatever was asked: where little but memory is told, rounds differ by 2 %. */
  readonly once: boolean
  fleets(asked: FleetAsked): FleetRow[]
}

/** What was asked of a table of trials. */
export interface TrialsAsked {
  /** Seconds that are measured of each, and those before that are not. */
  readonly duration: number
  readonly warmUp: number
  /** Of trials that have several. */
  readonly rounds: number
}

/** A table whose rows measure in their own way what its columns name. */
export interface TrialScenario extends Table {
  readonly columns: TrialColumns
  trials(asked: TrialsAsked): TrialRow[]
}

export type AnyScenario = Scenario | FleetScenario | TrialScenario
