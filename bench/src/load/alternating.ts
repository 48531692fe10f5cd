import { setTimeout as delay } from 'node:timers/promises'
import { getThreadSeconds, startOwnMeter } from '../processes.ts'
import { createProcessRunner, getGraceSeconds } from './common/process-runner.ts'
import { LoadTally } from './common/tally.ts'
import type { LoadPlan } from './load-plan.ts'
import { toTarget, createRequestSource } from './raw.ts'
import { ClosedLoop } from './raw/loops.ts'
import { RawConnection } from './raw/raw-connection.ts'

/** A measurement of two servers that are loaded in turn, in short slices of time. */
export interface AlternatingPlan {
  readonly servers: readonly AlternatingServer[]
  /** Number of unmeasured slices of each server at the start. With `warmUpRequests` the maximum. */
  readonly warmUpSlices: number
  /** Requests to each server after which the warm-up ends. */
  readonly warmUpRequests?: number
  /** Number of measured slices of each server. */
  readonly slices: number
  /** Duration of a slice (ms). */
  readonly sliceMs: number
}

/** A server and its load, a closed loop. */
export interface AlternatingServer extends Pick<LoadPlan, 'requests' | 'expect' | 'connections' | 'pipeline'> {
  readonly url: string
  /** All processes of the server. */
  readonly pids: readonly number[]
}

/** Costs of a server over all measured slices. */
export interface AlternatingCosts {
  /** Processor time per request (us), including work that it does between its slices. */
  readonly cpu: number
  readonly perSecond: number
  /** Share of a processor that the generator used during the slices of the server (0 to 1). */
  readonly generator: number
}

/** A slice. Times are in seconds. */
interface LoadedSlice {
  readonly requests: number
  readonly duration: number
  /** Processor time of the server, and of the generator. */
  readonly cpu: number
  readonly generatorCpu: number
}

interface LoadedServer {
  readonly pids: readonly number[]
  readonly loop: ClosedLoop
  readonly connections: readonly RawConnection[]
}

interface LoadedSlices {
  readonly slices: readonly LoadedSlice[]
  /** Processor time of the server from the first to the last measured slice (s). */
  readonly cpu: number
}

async function connectTo(server: AlternatingServer): Promise<LoadedServer> {
  const { url, pids, pipeline, connections: count } = server
  const target = toTarget(new URL(url), server)
  const loop = new ClosedLoop(createRequestSource(server, target.host), pipeline)
  const connections = Array.from({ length: count }, () => new RawConnection(target, loop))
  await Promise.all(connections.map(({ firstAttempt }) => firstAttempt))
  return { pids, loop, connections }
}

/** Loads one server for some milliseconds, and waits for its last reply. */
async function runSlice({ pids, loop, connections }: LoadedServer, milliseconds: number): Promise<LoadedSlice> {
  const [before, readMeter] = [getThreadSeconds(...pids), startOwnMeter()]
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
  const own = readMeter()
  return {
    requests,
    duration: (loop.lastReplyAt - now) / 1000,
    cpu: getThreadSeconds(...pids) - before,
    generatorCpu: own.cpu * own.seconds,
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const countRequests = (slices: readonly LoadedSlice[]) => sum(slices.map(({ requests }) => requests))

/**
 * Loads the servers in turn, for so many slices each.
 * @param isEnough returns true to end earlier
 */
async function runSlices(
  servers: readonly LoadedServer[],
  { count, sliceMs }: { readonly count: number; readonly sliceMs: number },
  isEnough: (slices: readonly (readonly LoadedSlice[])[]) => boolean = () => false,
): Promise<LoadedSlice[][]> {
  const slices: LoadedSlice[][] = servers.map(() => [])
  for (let slice = 0; slice < count && !isEnough(slices); slice++) {
    // The order alternates, so that a machine that becomes slower does not always slow the same server.
    const order = slice % 2 === 0 ? [0, 1] : [1, 0]
    for (const i of order) slices[i]!.push(await runSlice(servers[i]!, sliceMs))
  }
  return slices
}

/** @returns the measured slices of each server */
async function loadInTurn(plan: AlternatingPlan): Promise<LoadedSlices[]> {
  const { warmUpSlices, warmUpRequests = Infinity, sliceMs } = plan
  const servers = await Promise.all(plan.servers.map(connectTo))
  await runSlices(servers, { count: warmUpSlices, sliceMs }, (all) =>
    all.every((slices) => countRequests(slices) >= warmUpRequests),
  )
  const readAll = () => servers.map(({ pids }) => getThreadSeconds(...pids))
  const began = readAll()
  const slices = await runSlices(servers, { count: plan.slices, sliceMs })
  const ended = readAll()
  for (const { connections } of servers) for (const connection of connections) connection.close()
  return slices.map((all, i) => ({ slices: all, cpu: ended[i]! - began[i]! }))
}

/** @returns the processor time per request (us) of each server in each slice */
export async function measureAlternating(plan: AlternatingPlan): Promise<number[][]> {
  return (await loadInTurn(plan)).map(({ slices }) => slices.map(({ cpu, requests }) => (cpu * 1e6) / requests))
}

export async function countAlternating(plan: AlternatingPlan): Promise<number[]> {
  return (await loadInTurn(plan)).map(({ slices }) => countRequests(slices))
}

export async function compareAlternating(plan: AlternatingPlan): Promise<AlternatingCosts[]> {
  return (await loadInTurn(plan)).map(({ slices, cpu }) => {
    const [requests, duration, generatorCpu] = (['requests', 'duration', 'generatorCpu'] as const).map((name) =>
      sum(slices.map((slice) => slice[name])),
    ) as [number, number, number]
    return { cpu: (cpu * 1e6) / requests, perSecond: requests / duration, generator: generatorCpu / duration }
  })
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

/** Loads two servers in the same way. @returns the costs of each over all measured slices */
export const runComparedAlternating = createProcessRunner(import.meta.url, compareAlternating, getMaxSeconds)
