import { Serial } from './serial.ts'

/** Creates a function that calls `call`, and returns the promise of the call in progress if there is one. */
export function createSingleFlight<T>(call: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => (running ??= call().finally(() => (running = undefined)))
}

/**
 * Creates a function that allows one call at a time. Callers that come during a call share the next call, so that its
 * result is never older than their request. A call starts after the current task, so that callers of one task share it.
 */
export function coalesceCalls<T>(call: () => Promise<T>): () => Promise<T> {
  const serial = new Serial()
  let next: Promise<T> | undefined
  function start(): Promise<T> {
    next = undefined
    return call()
  }
  return () => (next ??= serial.run(start))
}
