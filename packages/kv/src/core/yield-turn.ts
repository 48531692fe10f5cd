/** Resolves after the event loop has run the tasks that wait. */
export const waitTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

// A longer turn of other tasks indicates an overload. The work then continues for the same time, up to twice this value
// (us).
const LONG_TURN_US = 50_000

let pendingTurn: Promise<void> | undefined
/** Last call of `yieldTurn`, and the end of the time in which work need not wait, in CPU time of this thread (us). */
let leftAt = 0
let sliceEnd = 0

function getCpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/**
 * Lets other tasks run. Long work calls it after each slice. After a long wait the work continues for the same time
 * without a wait: otherwise, in an overload, refused requests would use all the time, and accepted ones none.
 */
export function yieldTurn(): Promise<void> | undefined {
  leftAt = getCpuTime()
  if (leftAt < sliceEnd) return undefined
  return (pendingTurn ??= waitTurn().then(() => {
    pendingTurn = undefined
    const now = getCpuTime()
    const elapsed = now - leftAt
    sliceEnd = elapsed > LONG_TURN_US ? now + Math.min(elapsed, 2 * LONG_TURN_US) : now
  }))
}
