import { readFileSync, readlinkSync } from 'node:fs'

/** A counter that a thread keeps adding to while its event loop turns. */
export interface Pulse {
  /** From now on the thread is expected to beat. @param task where the system keeps it, if that is known */
  started(task?: string): void
  end(): void
}

/** Notices threads, or a process, whose event loop no longer turns. */
export interface Watchdog {
  /** What the threads add to, each at its own index. */
  readonly heartbeats: Int32Array
  watch(index: number, onStuck: () => void): Pulse
  stop(): void
}

const CHECKS_UNTIL_STUCK = 5
// Loading and compiling modules blocks a starting thread; on a busy machine for long.
const START_TIMEOUT = 30_000
/** A thread that gets hardly any of a processor is given up after so many times its timeout: others wait for it. */
export const STARVED_PATIENCE = 6

/** The calling thread, as Linux names it; nothing elsewhere. */
export function thisTask(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return undefined
  }
}

/** The main thread of a process, as Linux names it. */
export const mainTaskOf = (pid: number): string => `${pid}/task/${pid}`

/** What a thread has got of a processor so far (ms), and whether it has one or waits for one now, rather than sleeps. */
export interface Progress {
  readonly ran: number
  readonly isRunnable: boolean
}

/** Nothing where the system does not say. */
export function progressOf(task: string): Progress | undefined {
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
export function createWatchdog(size: number, timeout: number, read = progressOf): Watchdog {
  const heartbeats = new Int32Array(new SharedArrayBuffer(4 * size))
  const checkEvery = timeout / CHECKS_UNTIL_STUCK
  const checks = new Set<() => void>()
  const timer = setInterval(() => {
    for (const check of checks) check()
  }, checkEvery)

  return {
    heartbeats,
    watch(index, onStuck) {
      let task: string | undefined
      let beats = Atomics.load(heartbeats, index)
      let ran = 0
      /** Checks without a beat, and how many of them the thread had for itself. */
      let missed = 0
      let had = 0
      let limit = Math.max(CHECKS_UNTIL_STUCK, Math.ceil(START_TIMEOUT / checkEvery))
      function check(): void {
        const now = Atomics.load(heartbeats, index)
        const progress = task === undefined ? undefined : read(task)
        const got = progress?.isRunnable ? (progress.ran - ran) / checkEvery : 1
        ran = progress?.ran ?? ran
        if (now !== beats) {
          beats = now
          missed = had = 0
          return
        }
        missed++
        had += Math.min(1, got)
        if (Math.round(had) < limit && missed < STARVED_PATIENCE * limit) return
        checks.delete(check)
        onStuck()
      }
      checks.add(check)
      return {
        started(its) {
          task = its
          ran = (task === undefined ? undefined : read(task))?.ran ?? 0
          limit = CHECKS_UNTIL_STUCK
          missed = had = 0
        },
        end: () => void checks.delete(check),
      }
    },
    stop: () => clearInterval(timer),
  }
}
