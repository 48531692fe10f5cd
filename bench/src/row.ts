import type { BenchTarget, TargetProcess } from './targets/target.ts'
import type { GeneratorName } from './load/generators.ts'
import type { LoadPlan } from './load/load-plan.ts'

/** Metrics of a round by the names of columns: numbers in the columns' units, or words. */
export type RowMetrics = Readonly<Record<string, number | string>>

/** Options of a round, equal for all rows of a run. */
export interface RoundOptions {
  /** Measured seconds, and unmeasured seconds before them. */
  readonly duration: number
  readonly warmUp: number
  /** Requests or values per second of an open loop, which the round measures instead of the capacity. */
  readonly pace?: number | undefined
  /** For a profiler: true if the round only sends its load, during `warmUp` and `duration`, and measures nothing. */
  readonly throughout?: boolean
  /** Requests per second, with `throughout`. Without it the load is a closed loop. */
  readonly rate?: number | undefined
  /** Replaces the row's own number of connections. */
  readonly connections?: number | undefined
  /** Folder of the checkout whose services start, for rows that start them in their round. */
  readonly checkout?: string
  /** Generator of closed loops, instead of `raw`. */
  readonly generator?: GeneratorName
}

/** A row of a table: the measured program and its measurement. */
export interface BenchRow {
  readonly name: string
  readonly target: BenchTarget
  /** Creates the data for the measurement and checks a reply. @throws Error if the reply is wrong */
  prepare?(running: TargetProcess): Promise<void>
  /** Runs one round on a target that was started for it. @throws Error if a reply was wrong or missing */
  round(running: TargetProcess, options: RoundOptions): Promise<RowMetrics>
  /**
   * Returns the capacity of a start (requests or values per second) from a round without a pace. Absent if the row has no
   * open loop.
   */
  readonly getCapacity?: ((metrics: RowMetrics) => number) | undefined
  /** Maximum number of rounds, and of those at a pace; by default those of the run, and half of them. */
  readonly maxRounds?: number | undefined
  readonly maxPacedRounds?: number | undefined
  /** Rows with the same name here send the same load to the same target. A run measures them once. */
  readonly sharedAs?: string | undefined
  /** The requests of a round; absent for rows that do not send requests over HTTP. */
  readonly requests?: Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'>
  /** Description of the load in texts about flame graphs, whose recordings store it under this name. */
  readonly says?: string
  /** Values that the source (the project that the service reimplements) published, by the names of columns. */
  readonly source?: RowMetrics
}

/** Two rows that were loaded in turn: metrics of the first as multiples of those of the second. */
export interface PairMetrics {
  readonly cpu: number
  readonly perSecond: number
  /** Share of a processor that the generator used, the larger of both (0 to 1). */
  readonly generator: number
}

/** Results of all rounds of a row, or the reason of its failure. */
export interface RowResult {
  readonly name: string
  /** Name of the target. Result files have it under this name. */
  readonly contender: string
  /** Metrics of the rounds: first those of closed loops, then those at a pace. */
  readonly rounds: readonly RowMetrics[]
  /** Number of starts of the target. */
  readonly starts: number
  /** Number of connections that send requests. Absent in older results, and for other rows. */
  readonly connections?: number | undefined
  /** Mean duration of a round with its start (s). Absent in older results. */
  readonly stepSeconds?: number | undefined
  /** Measured seconds of a round, unless its row has a duration of its own. Absent in older results. */
  readonly roundSeconds?: number | undefined
  readonly source?: RowMetrics | undefined
  /** Comparisons with other rows, by their names; a pair of starts each. Absent for other loads than requests. */
  readonly comparisons?: Readonly<Record<string, readonly PairMetrics[]>> | undefined
  readonly failure?: string | undefined
}
