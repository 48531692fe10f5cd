/** Resolves after the event loop has done what waits for it. */
export const waitTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

// A turn of others that costs more than that is one of an overload: in it, work goes on for as long, up to twice that (us).
const LONG_TURN_US = 50_000

let pendingTurn: Promise<void> | undefined
/** When some work was last here, and until when it need not wait, as this thread has had a processor (us). */
let leftAt = 0
let sliceEnd = 0

function getCpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/**
 * Lets others have their turn, to be called after each slice of long work. Work that waited long for them goes on for as
 * long: in an overload what is refused would have all the time, and what was taken none.
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
