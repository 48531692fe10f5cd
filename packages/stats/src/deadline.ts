/** What a promise gives, or `late` after `ms`. */
export async function within<T, L>(promise: Promise<T>, ms: number, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout
  const expired = new Promise<L>((resolve) => {
    timer = setTimeout(resolve, ms, late)
  })
  return Promise.race([promise, expired]).finally(() => clearTimeout(timer))
}
