import type { BenchTarget, TargetProcess } from './targets/target.ts'
import type { GeneratorName } from './load/generators.ts'
import type { LoadPlan } from './load/load-plan.ts'

/** Metrics of a round by the names of columns: numbers in the columns' units, or words. */
export type RowMetrics = Readonly<Record<string, number | string>>

/** Durations and load of a run, equal for all its rows. */
export interface RoundOptions {
  /** Measured seconds, and unmeasured seconds before them. */
  readonly duration: number
  readonly warmUp: number
  /** True if the round also measures latencies at a constant rate, where its row can. */
  readonly paced: boolean
  /** True if the round only runs its work for all of these seconds (at `rate` if it has one), for a profiler. */
  readonly throughout?: boolean
  readonly rate?: number | undefined
  /** Replaces the row's own number of connections. */
  readonly connections?: number | undefined
  /** Folder of the checkout whose services start, for rows that start them in their round. */
  readonly checkout?: string
  /** Replaces our generator in closed loops. */
  readonly generator?: GeneratorName
}

/** One row of a table: its target, the check of its answers, and its round. */
export interface BenchRow {
  readonly name: string
  readonly target: BenchTarget
  /** Prepares the target for the measurement and checks its answer. @throws Error if the answer is wrong */
  prepare?(running: TargetProcess): Promise<void>
  /** Runs one round on a target that was started for it. @throws Error if an answer was wrong or missing */
  round(running: TargetProcess, how: RoundOptions): Promise<RowMetrics>
  /** The requests of a round, if they are always the same. */
  readonly requests?: Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'>
  /** Description of the load, for "on the serving thread under ...". */
  readonly says?: string
  /** Comparable values of a source, by the names of columns. */
  readonly source?: RowMetrics
}

/** Results of all rounds of a row, or the reason of its failure. */
export interface RowResult {
  readonly name: string
  readonly contender: string
  readonly rounds: readonly RowMetrics[]
  /** Number of starts of the target. Differences between starts have this many samples. */
  readonly starts: number
  readonly source?: RowMetrics | undefined
  readonly failure?: string | undefined
}
