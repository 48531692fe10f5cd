/**
 * Resolves with the value of a promise, or with `late` after `ms`. Written by hand, because `Promise.race` creates five
 * promises, and every read of stats waits here.
 */
export function resolveWithin<T, L>(promise: Promise<T>, ms: number, late: L): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms, late)
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
