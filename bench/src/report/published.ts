import type { FleetRowResult } from '../fleet-row.ts'
import type { Machine } from '../machine.ts'
import type { RowResult } from '../row.ts'
import type { AnyScenario } from '../scenarios/scenario.ts'

/** A plot and what it shows. */
export interface Figure {
  readonly title: string
  readonly svg: string
}

/** What was measured of a scenario, and how it is shown. */
export interface Measured {
  readonly results: readonly (RowResult | FleetRowResult)[]
  /** Each with its head first. */
  readonly tables: readonly (readonly (readonly string[])[])[]
  readonly figures: readonly Figure[]
}

/** One scenario's results and where they were taken. */
export interface Published extends Measured {
  readonly scenario: AnyScenario
  readonly machine: Machine
}
