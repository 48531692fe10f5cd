/** Resolves after the event loop has run the pending tasks. */
export const waitTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** CPU time of other tasks in one turn above which the thread counts as overloaded (us). */
const LONG_TURN_US = 50_000

let pendingTurn: Promise<void> | undefined
// These two times are CPU time of this thread (us).
/** Time of the last call of `yieldTurn`. */
let yieldedAt = 0
/** Until this time, `yieldTurn` does not wait. */
let noWaitUntil = 0

function getCpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/**
 * Lets other tasks run. Long work calls it after each slice. If the other tasks used more than `LONG_TURN_US`, the work
 * then runs without a pause for as long as they did, at most twice `LONG_TURN_US`. Without this rule, refused requests
 * would take all the time in an overload, and the accepted work would not progress.
 * @returns undefined if the work should continue at once
 */
export function yieldTurn(): Promise<void> | undefined {
  yieldedAt = getCpuTime()
  if (yieldedAt < noWaitUntil) return undefined
  return (pendingTurn ??= waitTurn().then(() => {
    pendingTurn = undefined
    const now = getCpuTime()
    const elapsed = now - yieldedAt
    noWaitUntil = elapsed > LONG_TURN_US ? now + Math.min(elapsed, 2 * LONG_TURN_US) : now
  }))
}
