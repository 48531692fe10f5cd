import { inspectThreads, type InspectorPost } from '@influencer-stats/bench/thread-inspectors'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

/** What a profile counts. */
export type ProfileKind = 'cpu' | 'allocation'

/** A fixed time in which every thread of a process is profiled. */
export interface ProfileWindow {
  readonly kind: ProfileKind
  readonly milliseconds: number
  /** Between two samples: microseconds for `cpu`, bytes for `allocation`. */
  readonly interval: number
  /** Where `<kind>-<thread>.json` is written for each thread. */
  readonly folder: string
}

/** A profiled process to whoever started it: lines of JSON on stderr behind `REPORT`. */
export type ProcessReport =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'profiled'; readonly threads: readonly string[] }

export const REPORT_PREFIX = 'flame: '

/** Tells whoever started this process something. Not on stdout, which is the log's. */
export function sendReport(message: ProcessReport): void {
  process.stderr.write(`${REPORT_PREFIX}${JSON.stringify(message)}\n`)
}

// Both flags: without them only what is still alive at the end is counted, a leak profile rather than an allocation one.
const ALLOCATION_FLAGS = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }

/** Has a thread profile itself for a while. */
async function profileThread(post: InspectorPost, { kind, milliseconds, interval }: ProfileWindow): Promise<unknown> {
  if (kind === 'cpu') {
    await post('Profiler.enable')
    await post('Profiler.setSamplingInterval', { interval })
    await post('Profiler.start')
  } else await post('HeapProfiler.startSampling', { samplingInterval: interval, ...ALLOCATION_FLAGS })
  await delay(milliseconds)
  const { profile: found } = await post(kind === 'cpu' ? 'Profiler.stop' : 'HeapProfiler.stopSampling')
  return found
}

/**
 * The main thread's side of being profiled: takes windows, a line of JSON each, from stdin, and
 * calls `stop` when stdin ends. So a process whose starter is gone stops, too.
 */
export function handleProfileRequests(stop: () => Promise<unknown>): void {
  const threads = inspectThreads()
  const lines = createInterface({ input: process.stdin })
  lines.on('line', async (line) => {
    const window: ProfileWindow = JSON.parse(line)
    const all = await Promise.all(
      Array.from(threads, async ([thread, post]) => ({ thread, found: await profileThread(post, window) })),
    )
    const file = (thread: string) => join(window.folder, `${window.kind}-${thread}.json`)
    await Promise.all(all.map(({ thread, found }) => writeFile(file(thread), JSON.stringify(found))))
    sendReport({ kind: 'profiled', threads: all.map(({ thread }) => thread) })
  })
  lines.on('close', stop)
}
