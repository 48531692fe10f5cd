import type { Spec } from '../spec.ts'

/** A server that can be measured. */
export interface BenchTarget {
  readonly name: string
  /** Programs and files that it needs beside this repository: where they are not installed it has no row. */
  readonly needs?: readonly string[]
  /** Starts it in processes of its own, ready to answer. */
  start(): Promise<TargetProcess>
  /** Of a service: what it is started with, for whoever starts it in another way. */
  readonly service?: Launch
}

export interface TargetProcess {
  readonly url: string
  /** The process whose processor time and memory count. */
  readonly pid: number
  /** Addresses at which others of it serve the same. */
  readonly others?: readonly string[]
  /** Processes whose processor time counts, too. */
  readonly extraPids?: readonly number[]
  /** Processes that it stands on, whose processor time is told apart. */
  readonly below?: readonly number[]
  /** From the start of its process until it answers (ms), where that is told. */
  readonly readyAfterMs?: number
  stop(): Promise<void>
}

/** What a service is started with. */
export interface Launch {
  readonly spec: Spec
  /** Its settings beside those of the spec; they may name what runs beside. */
  settings(): Promise<Readonly<Record<string, string>>>
  /** Puts what it shall find into its folder. */
  fill(folder: string): Promise<void>
}

/** What is measured without a server, each time in a process that the round makes. */
export const createServerlessTarget = (name: string): BenchTarget => ({
  name,
  start: async () => ({ url: '', pid: process.pid, stop: async () => {} }),
})

interface ProcessAddress {
  readonly url: string
  readonly pid: number
}

export const getPids = (processes: readonly ProcessAddress[]): number[] => processes.map(({ pid }) => pid)

/** Processes that serve the same, as one. */
export function combineProcesses(
  [first, ...rest]: readonly ProcessAddress[],
  stop: TargetProcess['stop'],
): TargetProcess {
  const { url, pid } = first!
  return { url, others: rest.map((other) => other.url), pid, extraPids: getPids(rest), stop }
}
