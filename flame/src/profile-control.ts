import { inspectThreads, type InspectorPost } from '@influencer-stats/bench/thread-inspectors'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'

/** The quantity that a profile counts. */
export type ProfileKind = 'cpu' | 'allocation'

/** A fixed time in which every thread of a process is profiled. */
export interface ProfileWindow {
  readonly kind: ProfileKind
  readonly milliseconds: number
  /** Sampling interval: microseconds for `cpu`, bytes for `allocation`. */
  readonly interval: number
  /** The folder of `<kind>-<thread>.json` for each thread. */
  readonly folder: string
}

/** Reports of a profiled process to its starter: lines of JSON on stderr after `REPORT`. */
export type ProcessReport =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'profiled'; readonly threads: readonly string[] }

export const REPORT_PREFIX = 'flame: '

/** Sends a report to the starter of this process. Not on stdout, which contains the log. */
export function sendReport(message: ProcessReport): void {
  process.stderr.write(`${REPORT_PREFIX}${JSON.stringify(message)}\n`)
}

// Both flags: without them only objects alive at the end count, which gives a leak profile, not an allocation profile.
const ALLOCATION_FLAGS = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }

/** Profiles a thread for a while. */
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
 * Handles profiling requests on the main thread: reads windows from stdin, one line of JSON each, and calls `stop` when
 * stdin ends. So the process also stops if its starter exits.
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
