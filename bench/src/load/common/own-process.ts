import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pinned } from '../../processes.ts'
import type { BulkPlan, BulkResult } from '../../prices/bulk.ts'
import type { ImportPlan, ImportResult } from '../../prices/import.ts'
import type { LookupsPlan, LookupsResult } from '../../prices/lookups.ts'
import type { RoundTripsPlan, RoundTripsResult } from '../../prices/round-trips.ts'
import type { IdlePlan, IdleResult } from '../idle.ts'
import type { LoadPlan, LoadResult } from '../load.ts'
import type { ScanPlan, ScanResult } from '../scan.ts'
import type { ConnectingPlan, ConnectingResult, FleetPlan, FleetResult } from '../sse-fleet.ts'

/** Seconds after the measured ones in which replies may still come. */
export const GRACE = 3
/** Seconds that a process may take to start, to open its connections and to end. */
export const OVERHEAD = 15

/** What runs in a process of its own: the generators that are written in JavaScript, and what is timed without a server. */
export interface Runs {
  autocannon(plan: LoadPlan): Promise<LoadResult>
  idle(plan: IdlePlan): Promise<IdleResult>
  raw(plan: LoadPlan): Promise<LoadResult>
  'price-bulk'(plan: BulkPlan): Promise<BulkResult>
  'price-import'(plan: ImportPlan): Promise<ImportResult>
  'price-lookups'(plan: LookupsPlan): Promise<LookupsResult>
  'price-round-trips'(plan: RoundTripsPlan): Promise<RoundTripsResult>
  scan(plan: ScanPlan): Promise<ScanResult>
  'sse-connecting'(plan: ConnectingPlan): Promise<ConnectingResult>
  'sse-fleet'(plan: FleetPlan): Promise<FleetResult>
}
export type Inside = keyof Runs
export type PlanOf<G extends Inside> = Parameters<Runs[G]>[0]
export type ResultOf<G extends Inside> = Awaited<ReturnType<Runs[G]>>
/** What the process is told, once. */
export interface Order<G extends Inside = Inside> {
  readonly generator: G
  readonly plan: PlanOf<G>
}
/** What it answers, once. */
export type Answer<G extends Inside = Inside> = { readonly result: ResultOf<G> } | { readonly error: string }

/** How long (ms) a run may take at most before it is ended by force. */
export function limitOf({ warmUp, duration }: LoadPlan): number {
  return (warmUp + duration + GRACE + OVERHEAD) * 1000
}

/**
 * Runs a plan in a process of its own.
 *
 * @param limit milliseconds until it is ended by force
 * @throws Error when it gave no result
 */
export async function runInOwnProcess<G extends Inside>(
  generator: G,
  plan: PlanOf<G>,
  limit: number,
): Promise<ResultOf<G>> {
  const entry = fileURLToPath(new URL('./generator-process.ts', import.meta.url))
  const [command, ...args] = pinned(plan.pin, [process.execPath, entry])
  // Options meant for this process, a profiler's say, would change what is measured.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(command!, args, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  const deadline = setTimeout(() => child.kill('SIGKILL'), limit)
  try {
    let answer: Answer<G> | undefined
    let complaints = ''
    child.on('message', (message) => (answer = message as Answer<G>))
    child.stderr!.on('data', (text) => (complaints += text))
    const closed = once(child, 'close')
    child.send({ generator, plan } satisfies Order<G>, () => {})
    const [code, signal] = await closed
    if (!answer) throw new Error(`${generator} gave no result (${signal ?? `exit ${code}`}) ${complaints}`.trim())
    if ('error' in answer) throw new Error(`${generator}: ${answer.error}`)
    return answer.result
  } finally {
    clearTimeout(deadline)
  }
}
