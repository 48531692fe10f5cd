import type { Running } from '@influencer-stats/bench/contenders/contender'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kind } from './messages.ts'
import { PROFILED_SERVICE, ROOT } from './paths.ts'
import { readAllocationProfile, readCpuProfile, type Profile } from './profile.ts'
import { startProfiled, type ProfiledProcess } from './profiled-process.ts'
import type { Workload } from './workloads.ts'

/** One thread's profile. */
export interface Recording {
  readonly kind: Kind
  /** `main`, `thread-0`, ... */
  readonly thread: string
  readonly profile: Profile
}

/** Between two samples: 0.5 ms, and 16 KiB, a quarter and a half of V8's defaults. */
export const INTERVALS: Readonly<Record<Kind, number>> = { cpu: 500, allocation: 16_384 }

const readers = { cpu: readCpuProfile, allocation: readAllocationProfile }

/** The runtime names serving threads after their service; where they lie, the folder's name says which. */
const shortName = (thread: string) => thread.replace(/^.+-(\d+)$/, 'thread-$1')

/** Profiles every thread of a process for some seconds. One kind a window: sampling allocations costs processor time. */
export async function recordProcess(
  { profile }: Pick<ProfiledProcess, 'profile'>,
  seconds: number,
  kinds: readonly Kind[] = ['cpu', 'allocation'],
): Promise<Recording[]> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-stats-flame-'))
  try {
    const recordings: Recording[] = []
    for (const kind of kinds) {
      const threads = await profile({ kind, milliseconds: seconds * 1000, interval: INTERVALS[kind], folder })
      const recorded = threads.map((thread) => {
        const raw = JSON.parse(readFileSync(join(folder, `${kind}-${thread}.json`), 'utf8'))
        return { kind, thread: shortName(thread), profile: readers[kind](raw, ROOT) }
      })
      recordings.push(...recorded.toSorted((a, b) => (a.thread < b.thread ? -1 : 1)))
    }
    return recordings
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What is profiled: a service with these settings, under this load. */
export interface Subject {
  readonly service: string
  readonly settings: Readonly<Record<string, string>>
  readonly workload: Workload
}

/** Runs `work` on a service that is ready, proved and in a folder of its own; ends it whatever happens. */
export async function withService<T>(
  { service, settings, workload }: Subject,
  start: (script: string, args: readonly string[]) => Promise<ProfiledProcess>,
  work: (process: ProfiledProcess & Running) => Promise<T>,
): Promise<T> {
  const data = mkdtempSync(join(tmpdir(), 'influencer-stats-flame-data-'))
  try {
    const process = await start(PROFILED_SERVICE, [service, JSON.stringify({ data, ...settings })])
    try {
      await workload.prepare?.(process)
      return await work(process)
    } finally {
      await process.stop()
    }
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

/** CPU and allocations of a service under load: of main, and of the one thread that serves. */
export function recordService(subject: Subject, seconds: number): Promise<Recording[]> {
  const settings = { threads: '1', ...subject.settings }
  return withService({ ...subject, settings }, startProfiled, (process) =>
    subject.workload.during(process, 2 * seconds, () => recordProcess(process, seconds)),
  )
}
