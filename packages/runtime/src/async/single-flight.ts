/** Creates a function that calls `call`, and returns the promise of the call in progress if there is one. */
export function createSingleFlight<T>(call: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => (running ??= call().finally(() => (running = undefined)))
}

/**
 * Creates a function that allows one call at a time. Callers that come during a call share the next call, so that its
 * result is never older than their request.
 */
export function createFreshSingleFlight<T>(call: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined
  let next: Promise<T> | undefined
  function start(): Promise<T> {
    next = undefined
    const result = call()
    const current = result.then(onEnd, onEnd)
    function onEnd(): void {
      if (running === current) running = undefined
    }
    running = current
    return result
  }
  return () => next ?? (running ? (next = running.then(start)) : start())
}
