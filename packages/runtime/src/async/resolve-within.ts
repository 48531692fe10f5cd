/**
 * Resolves with the value of a promise, or with the result of `getFallback` if the promise takes longer than `ms`. Does
 * not use `Promise.race`: it creates five promises, and reads of stats that wait for YouTube call this function.
 */
export function resolveWithin<T, L>(promise: Promise<T>, ms: number, getFallback: () => L): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(getFallback()), ms)
    promise.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (fault: unknown) => {
        clearTimeout(timer)
        reject(fault)
      },
    )
  })
}

/** Resolves with the value of a promise, or with undefined if the signal is aborted before. */
export function resolveUnlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve(undefined)
    const onAbort = () => resolve(undefined)
    const removeListener = () => signal.removeEventListener('abort', onAbort)
    signal.addEventListener('abort', onAbort)
    void promise.then(resolve, reject).then(removeListener)
  })
}
