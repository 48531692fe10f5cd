import type { Row } from '../row.ts'

/** What all rows of a run share. */
export interface Surroundings {
  /** Where the stand-in for YouTube is. */
  readonly youtubeUri: string
}

/** A table of a service: its rows, measured in one run. */
export interface Scenario {
  readonly service: string
  readonly name: string
  /** What it shows, in a sentence. */
  readonly title: string
  /** Whether it belongs to `pnpm bench <service>`, or to `--full` alone. */
  readonly full: boolean
  /** Rows whose ratio is told with its interval: [of, against]. */
  readonly steps?: readonly (readonly [string, string])[]
  rows(surroundings: Surroundings): Promise<Row[]>
}
