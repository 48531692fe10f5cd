import type { Machine } from '../machine.ts'
import type { RowResult } from '../row.ts'
import type { Scenario } from '../scenarios/scenario.ts'

/** One scenario's results and where they were taken. */
export interface Published {
  readonly scenario: Pick<Scenario, 'service' | 'name' | 'title' | 'steps'>
  readonly machine: Machine
  readonly results: readonly RowResult[]
}
