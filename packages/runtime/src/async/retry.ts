// Browsers load this file, too: it imports no module of Node.

const MIN_DELAY_MS = 100
const MAX_DELAY_MS = 5_000
// After this time without an attempt, the next delay is the minimum again.
const RESET_AFTER_MS = 30_000

/** The delays between attempts (ms). */
export interface BackOff {
  next(): number
}

/** Creates the delays between attempts: 100 ms, doubling up to 5 s, and 100 ms again after 30 s without an attempt. */
export function createBackOff(now: () => number = Date.now): BackOff {
  let delay = MIN_DELAY_MS
  let last = -Infinity
  return {
    next() {
      delay = now() - last > RESET_AFTER_MS + delay ? MIN_DELAY_MS : Math.min(delay * 2, MAX_DELAY_MS)
      last = now()
      return delay
    },
  }
}

/** Waits for `time` ms, or until the signal is aborted. Does not delay the exit of the process. */
export function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    function end(): void {
      clearTimeout(timer as number)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer: unknown = setTimeout(end, time)
    // A timer of Node delays the exit of its process.
    ;(timer as { unref?(): void }).unref?.()
    signal.addEventListener('abort', end)
  })
}

export interface RetryOptions {
  /** Ends the attempts. */
  readonly signal: AbortSignal
  /** Default: `createBackOff`. */
  readonly delays?: BackOff
  /** Called after each failure. An error that it throws ends the attempts. */
  onFault?(fault: unknown): void
}

/**
 * Repeats `task` until it succeeds.
 * @returns its result; undefined if the signal was aborted before
 * @throws the error of `onFault`
 */
export async function retry<T>(
  task: () => Promise<T>,
  { signal, delays = createBackOff(), onFault }: RetryOptions,
): Promise<T | undefined> {
  while (!signal.aborted) {
    try {
      return await task()
    } catch (fault) {
      onFault?.(fault)
      await pause(delays.next(), signal)
    }
  }
  return undefined
}
