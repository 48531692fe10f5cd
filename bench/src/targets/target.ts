import type { Spec } from '../spec.ts'

/** A server that can be measured. */
export interface BenchTarget {
  readonly name: string
  /** Required programs and files outside this repository. Without them the rows of the target are omitted. */
  readonly needs?: readonly string[]
  /**
   * Starts the target in its own processes, ready to answer.
   * @param checkout folder of another checkout whose service starts
   * @param env in addition to the environment of a service, for this start only
   */
  start(checkout?: string, env?: Readonly<Record<string, string>>): Promise<TargetProcess>
  /** Launch options of a service, for callers that start it in another way; absent for other programs. */
  readonly service?: Launch
}

/** A running target. */
export interface TargetProcess {
  readonly url: string
  /** The process whose processor time and memory are measured. */
  readonly pid: number
  /** URLs of the other processes of the target, which serve the same data. */
  readonly others?: readonly string[]
  /** Further processes whose processor time counts for the target. */
  readonly extraPids?: readonly number[]
  /** Processes that the target depends on. Their processor time is reported separately. */
  readonly below?: readonly number[]
  /** Time from the start of the process until it was ready (ms), if measured. */
  readonly readyAfterMs?: number
  stop(): Promise<void>
}

/** Launch options of a service. */
export interface Launch {
  readonly spec: Spec
  /** Settings in addition to those of the spec; they may contain addresses of background processes. */
  settings(): Promise<Readonly<Record<string, string>>>
  /**
   * Fills the folder of the service before its start.
   * @param checkout folder of the checkout that starts, if another
   */
  fill(folder: string, checkout?: string): Promise<void>
}

/** Creates a target without a server, for rows whose rounds start their own processes. */
export const createServerlessTarget = (name: string): BenchTarget => ({
  name,
  start: async () => ({ url: '', pid: process.pid, stop: async () => {} }),
})

interface ProcessAddress {
  readonly url: string
  readonly pid: number
}

/** Waits for targets that start at the same time. @throws the first error, after the others have stopped */
export async function startTogether(starting: readonly Promise<TargetProcess>[]): Promise<TargetProcess[]> {
  const all = await Promise.allSettled(starting)
  const running = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failed = all.find((one) => one.status === 'rejected')
  if (!failed) return running
  await Promise.all(running.map(({ stop }) => stop()))
  throw failed.reason
}

/** Combines processes that serve the same data into one target. */
export function combineProcesses(
  [first, ...rest]: readonly ProcessAddress[],
  stop: TargetProcess['stop'],
): TargetProcess {
  const { url, pid } = first!
  return { url, others: rest.map((other) => other.url), pid, extraPids: rest.map((other) => other.pid), stop }
}
