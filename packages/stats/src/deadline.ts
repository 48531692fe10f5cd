/** What a promise gives, or `late` after `ms`. By hand: `Promise.race` makes five promises, and each read waits here. */
export function within<T, L>(promise: Promise<T>, ms: number, late: L): Promise<T | L> {
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
