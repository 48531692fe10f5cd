import { getSlowness } from '@influencer-stats/bench/machine'
import { measure } from '@influencer-stats/bench/measure'
import { computePace } from '@influencer-stats/bench/run/pace'
import type { BenchRow } from '@influencer-stats/bench/row'
import { createTemporaryFolder } from '@influencer-stats/bench/temporary-folder'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProfileKind } from './profile-control.ts'
import { PROFILED_SERVICE_SCRIPT, ROOT } from '../paths.ts'
import { readAllocationProfile, readCpuProfile, type Profile } from '../graph/profile.ts'
import { startProfiled, type ProfiledProcess } from './profiled-process.ts'

/** The profile of one thread. */
export interface ThreadRecording {
  readonly kind: ProfileKind
  /** `main`, `thread-0`, ... */
  readonly thread: string
  readonly profile: Profile
}

/** Sampling intervals: 500 us and 16 KiB, which are half of the defaults of V8 (1,000 us and 32 KiB). */
export const INTERVALS: Readonly<Record<ProfileKind, number>> = { cpu: 500, allocation: 16_384 }

const readers = { cpu: readCpuProfile, allocation: readAllocationProfile }

/** Removes the service from the name of a serving thread, because the folder already has the name of the service. */
const toShortName = (thread: string) => thread.replace(/^.+-(\d+)$/, 'thread-$1')

/**
 * Profiles every thread of a process, for `seconds` of each kind. The kinds are not recorded at the same time, because
 * the sampling of allocations takes processor time.
 */
export async function recordProcess(
  { profile }: Pick<ProfiledProcess, 'profile'>,
  seconds: number,
  kinds: readonly ProfileKind[] = ['cpu', 'allocation'],
): Promise<ThreadRecording[]> {
  using folder = createTemporaryFolder()
  const recordings: ThreadRecording[] = []
  for (const kind of kinds) {
    const window = { kind, milliseconds: seconds * 1000, interval: INTERVALS[kind], folder: folder.path }
    const recorded = (await profile(window)).map((thread) => {
      const raw = JSON.parse(readFileSync(join(folder.path, `${kind}-${thread}.json`), 'utf8'))
      return { kind, thread: toShortName(thread), profile: readers[kind](raw, ROOT) }
    })
    recordings.push(...recorded.toSorted((a, b) => (a.thread < b.thread ? -1 : 1)))
  }
  return recordings
}

/** Duration of the warm-up, after which the compiled code does not change any more (s). */
const WARM_UP_S = 3
/** Additional duration of the load, because the work may take longer (s). On a slow machine it is longer. */
const MARGIN_S = 4

/** Measures the pace of a row, as a benchmark does (requests per second); undefined if the row has none. */
export async function measureBenchRate(row: BenchRow): Promise<number | undefined> {
  const { getCapacity } = row
  const options = { rounds: 1, duration: WARM_UP_S, warmUp: 1, latencies: false }
  const [{ rounds, failure } = { rounds: [] }] = getCapacity ? await measure([row], options) : []
  if (failure !== undefined) throw new Error(failure)
  return getCapacity && rounds[0] && computePace([getCapacity(rounds[0])])
}

/** Starts the service of a row with a new data folder, prepares it, runs `work` and stops the service. */
export async function withService<T>(
  { target, prepare }: BenchRow,
  threads: number,
  start: StartProcess,
  work: (process: ProfiledProcess) => Promise<T>,
): Promise<T> {
  const { spec, fill, settings } = target.service!
  using data = createTemporaryFolder()
  await fill(data.path)
  const { variant, service } = spec
  const all = { data: data.path, variant, threads: String(threads), ...(await settings()), ...spec.settings }
  const process = await start(PROFILED_SERVICE_SCRIPT, [service, JSON.stringify(all)])
  try {
    await prepare?.(process)
    return await work(process)
  } finally {
    await process.stop()
  }
}

type StartProcess = (script: string, args: readonly string[]) => Promise<ProfiledProcess>
type LoadOptions = { threads: number; start: StartProcess; seconds: number; rate: number | undefined }

/**
 * Runs work while the service of a row is under the load of the row, after a warm-up. The rate of the load is the given
 * one, or the pace of the service without inlining if that is lower.
 *
 * @param seconds duration of the work
 * @throws Error if a reply was wrong or missing, because the profile is then not that of a working service; or if the load
 *   ended before the work
 */
export function runUnderLoad<T>(
  row: BenchRow,
  { threads, start, seconds, rate }: LoadOptions,
  work: (process: ProfiledProcess) => Promise<T>,
): Promise<{ done: T; rate?: number }> {
  return withService(row, threads, start, async (process) => {
    const { getCapacity } = row
    const own = rate && getCapacity?.(await row.round(process, { duration: WARM_UP_S, warmUp: 1 }))
    const pace = own && rate ? Math.min(computePace([own]), rate) : undefined
    const margin = MARGIN_S * getSlowness()
    const roundOptions = { duration: seconds + margin, warmUp: WARM_UP_S, throughout: true, rate: pace }
    const loadRound = row.round(process, roundOptions)
    let isLoadOver = false
    // `await loadRound` below reports a failure. If the work fails first, the rejection must not be unhandled.
    loadRound.then(
      () => (isLoadOver = true),
      () => {},
    )
    // Waits for the end of the warm-up, or of a load that failed.
    await Promise.race([delay(WARM_UP_S * 1000), loadRound])
    const done = await work(process)
    if (isLoadOver) throw new Error('the load ended before the recording, because the machine is too slow')
    await loadRound
    return { done, ...(pace && { rate: pace }) }
  })
}

/** Records CPU and allocation profiles of the main and one serving thread under the load of a row. */
export async function recordRow(row: BenchRow, seconds: number, rate?: number) {
  const loadOptions = { threads: 1, start: startProfiled, seconds: 2 * seconds, rate }
  const { done: recordings, ...rest } = await runUnderLoad(row, loadOptions, (process) =>
    recordProcess(process, seconds),
  )
  return { recordings, ...rest }
}
