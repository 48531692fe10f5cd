import type { Machine } from '@influencer-stats/bench/machine'
import type { HotFunction, Share } from './graph/hot-functions.ts'
import type { ProfileKind } from './recording/profile-control.ts'

/**
 * Numbers of one graph. Shares are percent of the samples with JavaScript on the stack, or of the allocated bytes. The
 * fields cannot be renamed, because recorded `hot.json` files have these names.
 */
export interface GraphSummary {
  readonly kind: ProfileKind
  readonly thread: string
  readonly unit: 'samples' | 'bytes'
  readonly total: number
  /** Percent of all samples that were idle. */
  readonly idle: number
  /** Percent of the samples with work that were in native code without JavaScript on the stack. */
  readonly program: number
  /** Shares of components. */
  readonly parts: readonly Share[]
  /** Own shares by origin: files of this repository, packages, modules of Node, and native functions. */
  readonly homes: readonly Share[]
  /** Callers of the function with the largest own share. */
  readonly employers: readonly Share[]
  readonly functions: readonly HotFunction[]
}

/** Contents of `hot.json`: the graphs of a subject in numbers. */
export interface HotReport {
  readonly service: string
  readonly variant: string
  readonly work: string
  /** Description of the load, and its requests per second if it has a constant rate. */
  readonly says: string
  readonly rate?: number
  readonly machine: Machine
  /** Duration of each recording (s). */
  readonly seconds: number
  /** Duration of the whole recording of the subject (s). Absent in older recordings. */
  readonly stepSeconds?: number
  /** Time and bytes between two samples. */
  readonly intervals: { readonly microseconds: number; readonly bytes: number }
  readonly graphs: readonly GraphSummary[]
  /** Code of the lines that sentences name, by `file:line`, at the time of the recording. */
  readonly lines?: Readonly<Record<string, string>>
}
