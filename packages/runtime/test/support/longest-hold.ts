/**
 * The longest that the event loop was held meanwhile, and all that was worked (ms of this thread's processor time, so that
 * it does not matter what else the machine does; how fast it is does not matter to their ratio).
 */
export async function longestHold<T>(work: () => Promise<T>): Promise<{ result: T; held: number; worked: number }> {
  const begin = busy()
  let held = 0
  let last = begin
  let turn = setImmediate(function next() {
    const now = busy()
    held = Math.max(held, now - last)
    last = now
    turn = setImmediate(next)
  })
  try {
    const result = await work()
    const end = busy()
    return { result, held: Math.max(held, end - last), worked: end - begin }
  } finally {
    clearImmediate(turn)
  }
}

function busy(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
