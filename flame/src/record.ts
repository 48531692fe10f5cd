import { measure } from '@influencer-stats/bench/measure'
import type { BenchRow } from '@influencer-stats/bench/row'
import { createTemporaryFolder } from '@influencer-stats/bench/temporary-folder'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProfileKind } from './profile-control.ts'
import { PROFILED_SERVICE_SCRIPT, ROOT } from './paths.ts'
import { readAllocationProfile, readCpuProfile, type Profile } from './profile.ts'
import { startProfiled, type ProfiledProcess } from './profiled-process.ts'

/** One thread's profile. */
export interface ThreadRecording {
  readonly kind: ProfileKind
  /** `main`, `thread-0`, ... */
  readonly thread: string
  readonly profile: Profile
}

/** Sampling intervals: 0.5 ms and 16 KiB, which are a quarter and a half of V8's defaults. */
export const INTERVALS: Readonly<Record<ProfileKind, number>> = { cpu: 500, allocation: 16_384 }

const readers = { cpu: readCpuProfile, allocation: readAllocationProfile }

/** The runtime names serving threads after their service; here the folder's name identifies the service. */
const toShortName = (thread: string) => thread.replace(/^.+-(\d+)$/, 'thread-$1')

/**
 * Profiles every thread of a process for some seconds. One kind per window: allocation sampling costs processor time.
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

/** Time until compiled code is stable (s). */
const WARM_UP_S = 3
/** Margin for work that takes longer than announced, on a busy machine (s). */
const MARGIN_S = 4

/** The rate of a row's open loop, measured as the bench does; `undefined` if it has none. */
export async function measureBenchRate(row: BenchRow): Promise<number | undefined> {
  const [{ rounds, failure } = { rounds: [] }] = await measure([row], { rounds: 1, duration: WARM_UP_S, warmUp: 1 })
  if (failure !== undefined) throw new Error(failure)
  const rate = rounds[0]?.rate
  return typeof rate === 'number' ? rate : undefined
}

/** Runs `work` on the started and checked service of a row, with a new folder. Always stops it. */
async function withService<T>(
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

/**
 * Runs work while the service of a row is under the row's load, after a warm-up: at the bench's rate, or at the rate
 * that it reaches without inlining.
 *
 * @param seconds duration of the work
 * @throws Error if a reply was wrong or missing: then the profile does not show the service at work
 */
export function runUnderLoad<T>(
  row: BenchRow,
  {
    threads,
    start,
    seconds,
    rate,
  }: { threads: number; start: StartProcess; seconds: number; rate?: number | undefined },
  work: (process: ProfiledProcess) => Promise<T>,
): Promise<{ done: T; rate?: number }> {
  return withService(row, threads, start, async (process) => {
    const own = rate && (await row.round(process, { duration: WARM_UP_S, warmUp: 1, paced: true })).rate
    const pace = typeof own === 'number' && rate ? Math.min(own, rate) : undefined
    const roundOptions = { duration: seconds + MARGIN_S, warmUp: WARM_UP_S, paced: false, throughout: true, rate: pace }
    const loadRound = row.round(process, roundOptions)
    // The failure is reported below. Work that fails first must not leave it unhandled.
    loadRound.catch(() => {})
    // Waits for the first of them, so that a generator that cannot start does not block the work.
    await Promise.race([delay(WARM_UP_S * 1000), loadRound])
    const done = await work(process)
    await loadRound
    return { done, ...(pace && { rate: pace }) }
  })
}

/** CPU and allocation profiles of a service under the load of a row: of main, and of the only serving thread. */
export async function recordRow(row: BenchRow, seconds: number, rate?: number) {
  const loadOptions = { threads: 1, start: startProfiled, seconds: 2 * seconds, rate }
  const { done: recordings, ...rest } = await runUnderLoad(row, loadOptions, (process) =>
    recordProcess(process, seconds),
  )
  return { recordings, ...rest }
}
