import { readFileSync, readlinkSync } from 'node:fs'

/** A counter that a thread keeps adding to while its event loop turns. */
export interface Pulse {
  /** From now on the thread is expected to beat. @param task where the system keeps it, if that is known */
  start(task?: string): void
  end(): void
}

/** Notices threads, or a process, whose event loop no longer turns. */
export interface Watchdog {
  /** What the threads add to, each at its own index. */
  readonly heartbeats: Int32Array
  watch(index: number, onStuck: () => void): Pulse
  stop(): void
}

const MAX_MISSED_CHECKS = 5
// Loading and compiling modules blocks a starting thread; on a busy machine for long.
const START_TIMEOUT_MS = 30_000
/** A thread that gets hardly any of a processor is given up after so many times its timeout: others wait for it. */
export const STARVED_TIMEOUT_FACTOR = 6

/** The calling thread, as Linux names it; nothing elsewhere. */
export function getThreadTask(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return undefined
  }
}

/** The main thread of a process, as Linux names it. */
export const getMainTask = (pid: number): string => `${pid}/task/${pid}`

/** What a thread has got of a processor so far (ms), and whether it has one or waits for one now, rather than sleeps. */
export interface TaskProgress {
  readonly ran: number
  readonly isRunnable: boolean
}

/** Nothing where the system does not say. */
export function readTaskProgress(task: string): TaskProgress | undefined {
  try {
    const [ran] = readFileSync(`/proc/${task}/schedstat`, 'latin1').split(' ')
    const stat = readFileSync(`/proc/${task}/stat`, 'latin1')
    // Behind its name, which may have brackets and spaces.
    return { ran: Number(ran) / 1e6, isRunnable: stat[stat.lastIndexOf(')') + 2] === 'R' }
  } catch {
    return undefined
  }
}

/**
 * Calls `onStuck` of a thread that has not beaten for `timeout` ms. Counts checks without a beat rather than time, so
 * that a machine that slept does not look like a stuck thread; and of a thread that could run only what it ran, so that
 * one which is busy does not, either, where the machine is.
 * @param read as `progressOf`
 */
export function createWatchdog(size: number, timeout: number, read = readTaskProgress): Watchdog {
  const heartbeats = new Int32Array(new SharedArrayBuffer(4 * size))
  const checkIntervalMs = timeout / MAX_MISSED_CHECKS
  const checks = new Set<() => void>()
  const timer = setInterval(() => {
    for (const check of checks) check()
  }, checkIntervalMs)

  return {
    heartbeats,
    watch(index, onStuck) {
      let task: string | undefined
      let beats = Atomics.load(heartbeats, index)
      let ran = 0
      /** Checks without a beat, and how many of them the thread had for itself. */
      let missed = 0
      let creditedChecks = 0
      let limit = Math.max(MAX_MISSED_CHECKS, Math.ceil(START_TIMEOUT_MS / checkIntervalMs))
      function check(): void {
        const now = Atomics.load(heartbeats, index)
        const progress = task === undefined ? undefined : read(task)
        const got = progress?.isRunnable ? (progress.ran - ran) / checkIntervalMs : 1
        ran = progress?.ran ?? ran
        if (now !== beats) {
          beats = now
          missed = creditedChecks = 0
          return
        }
        missed++
        creditedChecks += Math.min(1, got)
        if (Math.round(creditedChecks) < limit && missed < STARVED_TIMEOUT_FACTOR * limit) return
        checks.delete(check)
        onStuck()
      }
      checks.add(check)
      return {
        start(newTask) {
          task = newTask
          ran = (task === undefined ? undefined : read(task))?.ran ?? 0
          limit = MAX_MISSED_CHECKS
          missed = creditedChecks = 0
        },
        end: () => void checks.delete(check),
      }
    },
    stop: () => clearInterval(timer),
  }
}
