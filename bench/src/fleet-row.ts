import type { Contender } from './contenders/contender.ts'
import type { FleetPlan, FleetResult } from './load/sse-fleet.ts'

/** What a source says of the like of a row. */
export interface FleetSource {
  /** MB. */
  readonly memory?: number
  /** Shares of its one processor, at most, in percent. */
  readonly connecting?: number
  readonly sending?: number
  /** Average time of a query (ms). */
  readonly query?: number
  readonly rejected?: number
}

/** A row of a table of fleets: a server, and what is opened on it and sent to it. */
export interface FleetRow {
  readonly name: string
  readonly contender: Contender
  readonly plan: Omit<FleetPlan, 'url' | 'pid' | 'pin'>
  readonly source?: FleetSource
}

/** What the rounds of a row came to, each on a server of its own, or why it is no result. */
export interface FleetRowResult {
  readonly name: string
  readonly contender: string
  readonly plan: FleetRow['plan']
  readonly rounds: readonly FleetResult[]
  readonly source?: FleetSource
  readonly failure?: string
}
