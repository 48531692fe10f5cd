/**
 * The longest that the event loop was held meanwhile, and all that was worked (ms of this thread's processor time, so that
 * it does not matter what else the machine does; how fast it is does not matter to their ratio).
 */
export async function measureLongestHold<T>(
  work: () => Promise<T>,
): Promise<{ result: T; held: number; worked: number }> {
  const begin = getProcessorTime()
  let held = 0
  let last = begin
  let turn = setImmediate(function next() {
    const now = getProcessorTime()
    held = Math.max(held, now - last)
    last = now
    turn = setImmediate(next)
  })
  try {
    const result = await work()
    const end = getProcessorTime()
    return { result, held: Math.max(held, end - last), worked: end - begin }
  } finally {
    clearImmediate(turn)
  }
}

function getProcessorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
