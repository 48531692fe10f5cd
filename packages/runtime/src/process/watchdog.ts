import { readFileSync, readlinkSync } from 'node:fs'

/** The watch of one thread, which adds to a counter while its event loop runs. */
export interface Pulse {
  /** Ends the longer timeout of the start. @param task name of the thread in the system, if known */
  start(task?: string): void
  end(): void
}

/** Detects threads, or a process, whose event loop has stopped. */
export interface Watchdog {
  /** Counters of the threads, each at its own index. */
  readonly heartbeats: Int32Array
  watch(index: number, onStuck: () => void): Pulse
  stop(): void
}

const MAX_MISSED_CHECKS = 5
// A starting thread is blocked while it loads and compiles modules, on a busy machine for a long time (ms).
const START_TIMEOUT_MS = 30_000
/**
 * A thread that gets hardly any processor time counts as stuck after this multiple of its timeout, because clients wait
 * for it.
 */
export const STARVED_TIMEOUT_FACTOR = 6

/** Returns the name of the calling thread in Linux. Undefined on other systems. */
export function getThreadTask(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return undefined
  }
}

/** Returns the name of a process's main thread in Linux. */
export const getMainTask = (pid: number): string => `${pid}/task/${pid}`

/**
 * The processor time that a thread has had (ms), and whether it now runs or waits for a processor instead of sleeping.
 */
export interface TaskProgress {
  readonly ran: number
  readonly isRunnable: boolean
}

/** `undefined` if the system does not report it. */
export function readTaskProgress(task: string): TaskProgress | undefined {
  try {
    const [ran] = readFileSync(`/proc/${task}/schedstat`, 'latin1').split(' ')
    const stat = readFileSync(`/proc/${task}/stat`, 'latin1')
    // After the name, which may contain brackets and spaces.
    return { ran: Number(ran) / 1e6, isRunnable: stat[stat.lastIndexOf(')') + 2] === 'R' }
  } catch {
    return undefined
  }
}

/**
 * Calls `onStuck` for a thread without a heartbeat for `timeout` ms. It counts checks without a heartbeat instead of
 * time, so that a machine that slept does not look like a stuck thread. For a thread that is ready to run, it counts
 * only the processor time that the thread had. So a slow thread on a busy machine does not look stuck either.
 * @param read like `readTaskProgress`
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
      /** Checks without a heartbeat, and the part of them for which the thread had a processor. */
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
