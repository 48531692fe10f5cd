import { getSlowness } from '@influencer-stats/bench/machine'
import { runCountedAlternating, type AlternatingServer } from '@influencer-stats/bench/load/alternating'
import { PINS, readProfileClock } from '@influencer-stats/bench/processes'
import { createTemporaryFolder } from '@influencer-stats/bench/temporary-folder'
import { readFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'
import type { DifferenceSide, TimeWindow } from '../graph/difference.ts'
import { ROOT } from '../paths.ts'
import type { ProfiledProcess } from './profiled-process.ts'
import { INTERVALS } from './record.ts'

/** Load of one process, before the other one gets it (ms). Short, so that a slower machine slows both. */
const SLICE_MS = 50
/** Duration of the warm-up of each process (s). */
const WARM_UP_S = 2
/** Additional duration of the profiles, for the start of the generator and the last replies of each slice (s). */
const MARGIN_S = 4

/** The load that both processes get. */
export type PairLoad = Pick<AlternatingServer, 'requests' | 'expect' | 'connections' | 'pipeline'>

type Server = Pick<ProfiledProcess, 'url' | 'pid' | 'profile'>

/** Counts the samples with work. */
function countWork({ nodes, samples = [] }: Profiler.Profile): number {
  const idle = new Set(nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id))
  return samples.filter((id) => !idle.has(id)).length
}

/** Profiles a process. @returns the profile of its busiest thread */
async function profileBusiest({ profile }: Server, milliseconds: number): Promise<Profiler.Profile> {
  using folder = createTemporaryFolder()
  const threads = await profile({ kind: 'cpu', milliseconds, interval: INTERVALS.cpu, folder: folder.path })
  const profiles = threads.map((thread): Profiler.Profile =>
    JSON.parse(readFileSync(join(folder.path, `cpu-${thread}.json`), 'utf8')),
  )
  return profiles.toSorted((a, b) => countWork(b) - countWork(a))[0]!
}

/**
 * Profiles two processes while they get the same load in turn, in short slices.
 * @param seconds load of each process that its profile counts
 * @returns the sides in the order of the processes
 * @throws Error if a reply is missing or wrong, or if the machine is too slow for the duration
 */
export async function recordPair(
  servers: readonly [Server, Server],
  load: PairLoad,
  seconds: number,
): Promise<[DifferenceSide, DifferenceSide]> {
  const plan = {
    servers: servers.map(({ url, pid }) => ({ ...load, url, pids: [pid] })),
    sliceMs: SLICE_MS,
    warmUpSlices: 0,
    ...(PINS.client && { pin: PINS.client }),
  }
  const toSlices = (duration: number) => Math.ceil((duration * 1000) / SLICE_MS)
  await runCountedAlternating({ ...plan, slices: toSlices(WARM_UP_S) })
  const milliseconds = (2 * seconds + MARGIN_S) * 1000 * getSlowness()
  const profiles = Promise.all(servers.map((server) => profileBusiest(server, milliseconds)))
  // `await profiles` below reports a failure. If the load fails first, the rejection must not be unhandled.
  profiles.catch(() => {})
  const from = readProfileClock()
  const requests = await runCountedAlternating({ ...plan, slices: toSlices(seconds) })
  const window: TimeWindow = [from, readProfileClock()]
  const sides = (await profiles).map((profile, i): DifferenceSide => {
    if (profile.endTime < window[1])
      throw new Error('the profile ended before the load, because the machine is too slow')
    return { profile, root: ROOT, requests: requests[i]!, window }
  })
  return [sides[0]!, sides[1]!]
}
