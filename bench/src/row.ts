import type { BenchTarget, TargetProcess } from './targets/target.ts'
import type { GeneratorName } from './load/generators.ts'
import type { LoadPlan } from './load/load-plan.ts'

/** What a round came to, by the names of columns: numbers in the columns' units, or words. */
export type RowMetrics = Readonly<Record<string, number | string>>

/** How long and how hard a run measures, the same for all its rows. */
export interface RoundOptions {
  /** Seconds that are measured, and those before that are not. */
  readonly duration: number
  readonly warmUp: number
  /** Whether the round tells latencies at a constant rate, too, where its row can. */
  readonly paced: boolean
  /** Whether all of these seconds are spent at the work alone, at this rate where it has one: for whoever looks on meanwhile. */
  readonly throughout?: boolean
  readonly rate?: number | undefined
  /** In place of the row's own. */
  readonly connections?: number | undefined
  /** Of closed loops, in place of our own. */
  readonly generator?: GeneratorName
}

/** One row of a table: who is measured, that it answers right, and how. */
export interface BenchRow {
  readonly name: string
  readonly target: BenchTarget
  /** Brings the contender to where it can be measured, and proves that its answer is right. @throws Error if it is not */
  prepare?(running: TargetProcess): Promise<void>
  /** One round on a contender that was started for it. @throws Error when an answer was wrong or missing */
  round(running: TargetProcess, how: RoundOptions): Promise<RowMetrics>
  /** The requests of a round, if it sends the same ones all the time. */
  readonly requests?: Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'>
  /** What a round sends, in words for "on the serving thread under ...". */
  readonly says?: string
  /** What a source says of the like, by the names of columns. */
  readonly source?: RowMetrics
}

/** What the rounds of a row came to, or why it is no result. */
export interface RowResult {
  readonly name: string
  readonly contender: string
  readonly rounds: readonly RowMetrics[]
  /** How often the contender was started for them: what differs from start to start is told by as many. */
  readonly starts: number
  readonly source?: RowMetrics | undefined
  readonly failure?: string | undefined
}
