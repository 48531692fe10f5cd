import type { FleetRowResult } from '../fleet-row.ts'
import type { Machine } from '../machine.ts'
import type { RowResult } from '../row.ts'
import type { AnyScenario } from '../scenarios/scenario.ts'
import type { TrialRowResult } from '../trial-row.ts'
import type { Figure } from './svg.ts'

/** What was measured of a scenario, and how it is shown. */
export interface Measured {
  readonly results: readonly (RowResult | FleetRowResult | TrialRowResult)[]
  /** Each with its head first. */
  readonly tables: readonly (readonly (readonly string[])[])[]
  readonly figures: readonly Figure[]
}

/** One scenario's results and where they were taken. */
export interface Published extends Measured {
  readonly scenario: AnyScenario
  readonly machine: Machine
}
