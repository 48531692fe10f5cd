import type { Machine } from '@influencer-stats/bench/machine'
import type { HotFunction, Share } from './hot-functions.ts'
import type { ProfileKind } from './profile-control.ts'
import { RENAMED_COMPONENTS, RENAMED_LOADS } from './renamed.ts'

/** Numbers of one graph. Shares are percent of the samples with work in JavaScript or for it, or of the bytes. */
export interface GraphSummary {
  readonly kind: ProfileKind
  readonly thread: string
  readonly unit: 'samples' | 'bytes'
  readonly total: number
  /** Percent of all samples that were idle. */
  readonly idle: number
  /** Percent of the other samples that were in native code with no JavaScript on the stack. */
  readonly program: number
  readonly parts: readonly Share[]
  /** Own shares of files of this repository, packages, modules of Node, and native functions. */
  readonly homes: readonly Share[]
  /** Callers of the function with the largest own share. */
  readonly employers: readonly Share[]
  readonly functions: readonly HotFunction[]
}

/** `hot.json`: the graphs of a variant in numbers. */
export interface HotReport {
  readonly service: string
  readonly variant: string
  readonly work: string
  /** Description of the load; and its requests per second, if it has a constant rate. */
  readonly says: string
  readonly rate?: number
  readonly machine: Machine
  /** Duration of each window (s). */
  readonly seconds: number
  /** Between two samples. */
  readonly intervals: { readonly microseconds: number; readonly bytes: number }
  readonly graphs: readonly GraphSummary[]
  /**
   * The code of the lines that sentences name, by `file:line`. If it has changed, the sentences refer to other code.
   */
  readonly lines?: Readonly<Record<string, string>>
}

const renameComponent = ({ name, share }: Share): Share => ({ name: RENAMED_COMPONENTS[name] ?? name, share })

/** A recording with the present names of its components and its load. Functions and files have those of its commit. */
export const toPresentReport = (hot: HotReport): HotReport => ({
  ...hot,
  says: RENAMED_LOADS[hot.says] ?? hot.says,
  graphs: hot.graphs.map((graph) => ({ ...graph, parts: graph.parts.map(renameComponent) })),
})
