import { readFileSync, readlinkSync } from 'node:fs'

/** The watch of one thread. The thread adds to its heartbeat counter while its event loop runs. */
export interface ThreadWatch {
  /**
   * Records that the thread has started: the longer timeout of its start ends.
   * @param task path of the thread below `/proc`, if known
   */
  markStarted(task?: string): void
  end(): void
}

/** Detects threads, or a process, whose event loop has stopped. */
export interface Watchdog {
  /** Heartbeat counters of the threads, by index of the thread. */
  readonly heartbeats: Int32Array
  watch(index: number, onStuck: () => void): ThreadWatch
  stop(): void
}

/** Number of checks in the timeout. After this number of checks without a heartbeat, a thread counts as stuck. */
const MAX_MISSED_CHECKS = 5
// A starting thread is blocked while it loads and compiles modules, on a busy machine for a long time (ms).
const START_TIMEOUT_MS = 30_000
/**
 * Multiple of the timeout after which a thread counts as stuck even if it gets hardly any processor time, because
 * clients wait for it.
 */
export const STARVED_TIMEOUT_FACTOR = 6

/**
 * Returns the path of the calling thread below `/proc`, such as `12/task/34`. Undefined on systems other than Linux.
 */
export function getThreadTask(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return undefined
  }
}

/** Returns the path of a process's main thread below `/proc` in Linux. */
export const getMainTask = (pid: number): string => `${pid}/task/${pid}`

/** Progress of a thread. */
export interface TaskProgress {
  /** Processor time that the thread has had (ms). */
  readonly ran: number
  /** True if the thread runs or waits for a processor. False if it sleeps. */
  readonly isRunnable: boolean
}

/** Reads the progress of a thread. `undefined` if the system does not report it. */
export function readTaskProgress(task: string): TaskProgress | undefined {
  try {
    const [ran] = readFileSync(`/proc/${task}/schedstat`, 'latin1').split(' ')
    const stat = readFileSync(`/proc/${task}/stat`, 'latin1')
    // The state follows the name, which may contain brackets and spaces.
    return { ran: Number(ran) / 1e6, isRunnable: stat[stat.lastIndexOf(')') + 2] === 'R' }
  } catch {
    return undefined
  }
}

/**
 * Creates a watchdog, which calls `onStuck` for a thread without a heartbeat for `timeout` ms. It counts checks without
 * a heartbeat instead of time, so that a thread does not look stuck after the machine has slept. For a thread that is
 * ready to run, it counts only the processor time that the thread had. So a slow thread on a busy machine does not look
 * stuck either.
 * @param size number of threads
 * @param read replaces `readTaskProgress` in tests
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
      /** Number of checks without a heartbeat. */
      let missed = 0
      /**
       * The part of `missed` that counts toward the timeout. A runnable thread is credited only with the share of the
       * interval in which it had a processor, any other thread with the whole check.
       */
      let creditedChecks = 0
      let limit = Math.max(MAX_MISSED_CHECKS, Math.ceil(START_TIMEOUT_MS / checkIntervalMs))
      function check(): void {
        const now = Atomics.load(heartbeats, index)
        const progress = task === undefined ? undefined : read(task)
        const credit = progress?.isRunnable ? (progress.ran - ran) / checkIntervalMs : 1
        ran = progress?.ran ?? ran
        if (now !== beats) {
          beats = now
          missed = creditedChecks = 0
          return
        }
        missed++
        creditedChecks += Math.min(1, credit)
        if (Math.round(creditedChecks) < limit && missed < STARVED_TIMEOUT_FACTOR * limit) return
        checks.delete(check)
        onStuck()
      }
      checks.add(check)
      return {
        markStarted(newTask) {
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
