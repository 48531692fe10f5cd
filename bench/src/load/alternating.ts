import { setTimeout as delay } from 'node:timers/promises'
import { getThreadSeconds } from '../processes.ts'
import { createProcessRunner, getGraceSeconds } from './common/process-runner.ts'
import { LoadTally } from './common/tally.ts'
import type { LoadPlan } from './load-plan.ts'
import { toTarget, createRequestSource } from './raw.ts'
import { ClosedLoop } from './raw/loops.ts'
import { RawConnection } from './raw/raw-connection.ts'

/** A measurement of two servers that receive the same load in turn, in short slices of time. */
export interface AlternatingPlan extends Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'> {
  readonly servers: readonly AlternatingServer[]
  /** Number of unmeasured slices of each server at the start. */
  readonly warmUpSlices: number
  /** Number of measured slices of each server. */
  readonly slices: number
  /** Duration of a slice (ms). */
  readonly sliceMs: number
}

export interface AlternatingServer {
  readonly url: string
  /** All processes of the server. */
  readonly pids: readonly number[]
}

/** Requests of a slice, and processor time per request (us). */
interface LoadedSlice {
  readonly requests: number
  readonly cost: number
}

interface LoadedServer {
  readonly pids: readonly number[]
  readonly loop: ClosedLoop
  readonly connections: readonly RawConnection[]
}

async function connectTo(plan: AlternatingPlan, { url, pids }: AlternatingServer): Promise<LoadedServer> {
  const target = toTarget(new URL(url), plan)
  const loop = new ClosedLoop(createRequestSource(plan, target.host), plan.pipeline)
  const connections = Array.from({ length: plan.connections }, () => new RawConnection(target, loop))
  await Promise.all(connections.map(({ firstAttempt }) => firstAttempt))
  return { pids, loop, connections }
}

/** Loads one server for some milliseconds, and waits for its last reply. */
async function runSlice({ pids, loop, connections }: LoadedServer, milliseconds: number): Promise<LoadedSlice> {
  const before = getThreadSeconds(...pids)
  const now = performance.now()
  const tally = new LoadTally(now, now + milliseconds)
  loop.start(connections, tally, now)
  await delay(milliseconds)
  const deadline = tally.until + getGraceSeconds() * 1000
  while (loop.countOutstanding() > 0 && performance.now() < deadline) await delay(1)
  const { requests, errors, wrong } = tally
  if (errors + loop.countOutstanding() > 0) throw new Error('requests got no reply')
  if (wrong > 0) throw new Error(`${wrong} replies were wrong`)
  if (requests === 0) throw new Error('no request got a reply')
  return { requests, cost: ((getThreadSeconds(...pids) - before) * 1e6) / requests }
}

/** @returns the measured slices of each server */
async function loadInTurn(plan: AlternatingPlan): Promise<LoadedSlice[][]> {
  const servers = await Promise.all(plan.servers.map((server) => connectTo(plan, server)))
  const slices: LoadedSlice[][] = servers.map(() => [])
  for (let slice = 0; slice < plan.warmUpSlices + plan.slices; slice++) {
    // The order alternates, so that a machine that becomes slower does not always slow the same server.
    const order = slice % 2 === 0 ? [0, 1] : [1, 0]
    for (const i of order) slices[i]!.push(await runSlice(servers[i]!, plan.sliceMs))
  }
  for (const { connections } of servers) for (const connection of connections) connection.close()
  return slices.map((all) => all.slice(plan.warmUpSlices))
}

/** @returns the processor time per request (us) of each server in each slice */
export async function measureAlternating(plan: AlternatingPlan): Promise<number[][]> {
  return (await loadInTurn(plan)).map((slices) => slices.map(({ cost }) => cost))
}

export async function countAlternating(plan: AlternatingPlan): Promise<number[]> {
  return (await loadInTurn(plan)).map((slices) => slices.reduce((sum, { requests }) => sum + requests, 0))
}

const getMaxSeconds = ({ warmUpSlices, slices, sliceMs }: AlternatingPlan) =>
  getGraceSeconds() + (4 * (warmUpSlices + slices) * sliceMs) / 1000

/**
 * Loads two servers in turn from one process. The slices are shorter than the usual changes of speed of a shared
 * machine. So ratios of neighbouring slices vary by a few percent, while ratios of rounds of seconds vary by tens of
 * percent.
 *
 * @throws Error if a reply is missing or wrong
 */
export const runAlternating = createProcessRunner(import.meta.url, measureAlternating, getMaxSeconds)

/** Loads two servers in the same way. @returns the number of requests of each in the measured slices */
export const runCountedAlternating = createProcessRunner(import.meta.url, countAlternating, getMaxSeconds)
