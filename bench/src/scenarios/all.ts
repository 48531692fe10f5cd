import type { AnyScenario } from './scenario.ts'
import { fleetScenarios } from './sse.ts'
import { scenarios as stats } from './stats.ts'

/** Every table that can be measured, in the order of the report. */
export const scenarios: readonly AnyScenario[] = [...stats, ...fleetScenarios]
