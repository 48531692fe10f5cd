/**
 * Measures the longest block of the event loop and the total work (ms of this thread's processor time). Other load on
 * the machine does not affect these times, and the speed of the machine does not affect their ratio.
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

/**
 * Repeats `measure` up to three times, until it holds the event loop shorter than `limit` (ms): a large garbage collection
 * may extend one of the holds. Work that does not yield extends each.
 * @throws Error with the holds
 */
export async function expectShortHold<T>(
  limit: number,
  measure: () => Promise<{ readonly result: T; readonly held: number }>,
): Promise<T> {
  const holds: number[] = []
  while (holds.length < 3) {
    const { result, held } = await measure()
    if (held < limit) return result
    holds.push(held)
  }
  throw new Error(`held the event loop for ${holds.map(Math.round).join(', ')} ms, not less than ${limit}`)
}

function getProcessorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
