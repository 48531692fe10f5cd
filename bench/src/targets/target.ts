import type { Spec } from '../spec.ts'

/** A server that can be measured. */
export interface BenchTarget {
  readonly name: string
  /** Programs and files outside this repository. If one is not installed, the target has no row. */
  readonly needs?: readonly string[]
  /**
   * Starts the target in its own processes, ready to answer.
   * @param checkout folder of another checkout whose service starts
   * @param env in addition to the environment of a service, for this start only
   */
  start(checkout?: string, env?: Readonly<Record<string, string>>): Promise<TargetProcess>
  /** For a service: its launch options, for callers that start it in another way. */
  readonly service?: Launch
}

export interface TargetProcess {
  readonly url: string
  /** The process whose processor time and memory are measured. */
  readonly pid: number
  /** Addresses of other processes that serve the same. */
  readonly others?: readonly string[]
  /** Processes whose processor time is added. */
  readonly extraPids?: readonly number[]
  /** Processes that the target depends on. Their processor time is reported separately. */
  readonly below?: readonly number[]
  /** Time from the start of its process to its first answer (ms), if measured. */
  readonly readyAfterMs?: number
  stop(): Promise<void>
}

/** Launch options of a service. */
export interface Launch {
  readonly spec: Spec
  /** Settings in addition to those of the spec; they may contain addresses of background processes. */
  settings(): Promise<Readonly<Record<string, string>>>
  /** Fills the folder of the service before its start. @param checkout folder of the checkout that starts, if another */
  fill(folder: string, checkout?: string): Promise<void>
}

/** A target without a server: each round creates its own process. */
export const createServerlessTarget = (name: string): BenchTarget => ({
  name,
  start: async () => ({ url: '', pid: process.pid, stop: async () => {} }),
})

interface ProcessAddress {
  readonly url: string
  readonly pid: number
}

export const getPids = (processes: readonly ProcessAddress[]): number[] => processes.map(({ pid }) => pid)

/** Combines processes that serve the same into one target. */
export function combineProcesses(
  [first, ...rest]: readonly ProcessAddress[],
  stop: TargetProcess['stop'],
): TargetProcess {
  const { url, pid } = first!
  return { url, others: rest.map((other) => other.url), pid, extraPids: getPids(rest), stop }
}
