import type { Machine } from '@influencer-stats/bench/machine'
import type { HotFunction, Share } from './hot-functions.ts'
import type { ProfileKind } from './profile-control.ts'

/** One graph in figures. Shares are percent of the samples with work in JavaScript or for it, or of the bytes. */
export interface GraphSummary {
  readonly kind: ProfileKind
  readonly thread: string
  readonly unit: 'samples' | 'bytes'
  readonly total: number
  /** Percent of all samples that had nothing to do. */
  readonly idle: number
  /** Percent of the other samples that were in native code with no JavaScript on the stack. */
  readonly program: number
  readonly parts: readonly Share[]
  /** Files of this repository, packages, modules of Node, native functions: in themselves. */
  readonly homes: readonly Share[]
  /** Of the function that tops the graph: for whom it works. */
  readonly employers: readonly Share[]
  readonly functions: readonly HotFunction[]
}

/** `hot.json`: what the graphs of a variant show, in figures. */
export interface HotReport {
  readonly service: string
  readonly variant: string
  readonly work: string
  /** What was asked, in words; and how often a second, where it had a pace. */
  readonly says: string
  readonly rate?: number
  readonly machine: Machine
  /** Each window (s). */
  readonly seconds: number
  /** Between two samples. */
  readonly intervals: { readonly microseconds: number; readonly bytes: number }
  readonly graphs: readonly GraphSummary[]
  /** The code of the lines that sentences name, by `file:line`: where it has changed since, they speak of other code. */
  readonly lines?: Readonly<Record<string, string>>
}
