/**
 * The longest that the event loop was held meanwhile (ms of this thread's processor time, so that it does not matter what
 * else the machine does).
 */
export async function longestHold<T>(work: () => Promise<T>): Promise<{ result: T; held: number }> {
  let held = 0
  let last = busy()
  let turn = setImmediate(function next() {
    const now = busy()
    held = Math.max(held, now - last)
    last = now
    turn = setImmediate(next)
  })
  try {
    return { result: await work(), held: Math.max(held, busy() - last) }
  } finally {
    clearImmediate(turn)
  }
}

function busy(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
