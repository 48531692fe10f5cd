import { inspectThreads, type InspectorPost } from '@influencer-stats/bench/thread-inspectors'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

/** Kind of a profile: processor time or allocations. */
export type ProfileKind = 'cpu' | 'allocation'

/** Request to profile every thread of a process for a fixed time. */
export interface ProfileWindow {
  readonly kind: ProfileKind
  readonly milliseconds: number
  /** Sampling interval: microseconds for `cpu`, bytes for `allocation`. */
  readonly interval: number
  /** Folder into which `<kind>-<thread>.json` is written for each thread. */
  readonly folder: string
}

/** Reports of a profiled process to its parent: lines of JSON on stderr, each after `REPORT_PREFIX`. */
export type ProcessReport =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'profiled'; readonly threads: readonly string[] }

export const REPORT_PREFIX = 'flame: '

/** Sends a report to the parent of this process, on stderr because stdout contains the log. */
export function sendReport(message: ProcessReport): void {
  process.stderr.write(`${REPORT_PREFIX}${JSON.stringify(message)}\n`)
}

// With both flags, objects that were collected count, too. Without them the profile would only have objects that still
// exist.
const ALLOCATION_FLAGS = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }

/** Profiles a thread for the duration of the window. @returns the profile in the format of V8 */
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
 * Handles requests on stdin: each line is a `ProfileWindow` as JSON. Calls `stop` when stdin ends, so the process also
 * stops if its parent exits.
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
