import type { FleetRowResult } from '../fleet-row.ts'
import type { RowResult } from '../row.ts'
import type { AnyScenario } from '../scenarios/scenario.ts'
import { figuresOf } from './figures.ts'
import { fleetFiguresOf, fleetTableOf } from './fleet-table.ts'
import type { Measured } from './published.ts'
import { stepsTableOf, tableOf } from './table.ts'

/** A scenario's results and how they are shown: just measured, or read from where they were written. */
export function measuredOf(scenario: AnyScenario, results: Measured['results']): Measured {
  if ('fleets' in scenario) {
    const rows = results as readonly FleetRowResult[]
    return {
      results,
      tables: [fleetTableOf(rows, scenario.columns)],
      figures: fleetFiguresOf(rows, scenario.columns),
    }
  }
  const rows = results as readonly RowResult[]
  const tables = [tableOf(rows), stepsTableOf(rows, scenario)].filter((table) => table.length > 0)
  return { results, tables, figures: figuresOf(rows) }
}
