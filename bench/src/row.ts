import type { Contender, Running } from './contenders/contender.ts'
import type { Latency, LoadPlan } from './load/load.ts'

/** One row of a table: a server, what to ask of it, and what a source said of the like. */
export interface Row {
  readonly name: string
  readonly contender: Contender
  /** Brings the server to where it can be measured, and proves that its answer is right. @throws Error if it is not */
  prepare(running: Running): Promise<void>
  /** What to send, but for where, how fast and for how long. */
  readonly load: Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'>
  /** Requests a second of the same row at the source. */
  readonly source?: number
}

/** The figures of one run in which every answer was right. */
export interface Round {
  readonly perSecond: number
  /** The server's processor time a request (us), all its threads together. */
  readonly cpuPerRequest: number
  /** In microseconds. */
  readonly latency: Latency
  /** Resident memory of the server after the run (MB). */
  readonly memory: number
  /** Share of a processor that the generator took. */
  readonly clientCpu: number
}

/** How long requests take at a constant rate. Each figure is the median of the rounds'. */
export interface OpenLoopResult {
  /** Requests a second that were due. */
  readonly rate: number
  readonly rounds: number
  /** Replies a second. */
  readonly perSecond: number
  /** In microseconds, from when the requests were due. */
  readonly latency: Latency
  /** How late the generator saw that requests were due (us, p99): its own part of the latencies. */
  readonly lateness: number
}

/** What a run of a row came to, or why it is no result. */
export interface RowResult {
  readonly name: string
  readonly contender: string
  readonly connections: number
  /** Closed loop, by the named generator: what the server can do. */
  readonly generator: string
  readonly rounds: readonly Round[]
  /** Open loop at a constant rate below that: how long a request takes. Absent for rows that are too slow for one. */
  readonly open?: OpenLoopResult
  /** Requests a second of the same row at the source. */
  readonly source?: number
  readonly failure?: string
}
