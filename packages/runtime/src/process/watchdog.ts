/** A counter that a thread keeps adding to while its event loop turns. */
export interface Pulse {
  /** From now on the thread is expected to beat. */
  started(): void
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

/**
 * Calls `onStuck` of a thread that has not beaten for `timeout` ms. Counts checks without a beat rather than time, so
 * that a machine that slept does not look like a stuck thread.
 */
export function createWatchdog(size: number, timeout: number): Watchdog {
  const heartbeats = new Int32Array(new SharedArrayBuffer(4 * size))
  const checkEvery = timeout / CHECKS_UNTIL_STUCK
  const checks = new Set<() => void>()
  const timer = setInterval(() => {
    for (const check of checks) check()
  }, checkEvery)

  return {
    heartbeats,
    watch(index, onStuck) {
      let beats = Atomics.load(heartbeats, index)
      let missed = 0
      let limit = Math.max(CHECKS_UNTIL_STUCK, Math.ceil(START_TIMEOUT / checkEvery))
      function check(): void {
        const now = Atomics.load(heartbeats, index)
        missed = now === beats ? missed + 1 : 0
        beats = now
        if (missed < limit) return
        checks.delete(check)
        onStuck()
      }
      checks.add(check)
      return {
        started() {
          limit = CHECKS_UNTIL_STUCK
          missed = 0
        },
        end: () => void checks.delete(check),
      }
    },
    stop: () => clearInterval(timer),
  }
}
