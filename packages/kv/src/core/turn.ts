/** Resolves after the event loop has done what waits for it. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

// A turn of others that costs more than that is one of an overload: in it, work goes on for as long, up to twice that (us).
const LONG = 50_000

let next: Promise<void> | undefined
/** When some work was last here, and until when it need not wait, as this thread has had a processor (us). */
let left = 0
let ends = 0

function spent(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/**
 * Lets others have their turn, to be called after each slice of long work. Work that waited long for them goes on for as
 * long: in an overload what is refused would have all the time, and what was taken none.
 */
export function yieldTurn(): Promise<void> | undefined {
  left = spent()
  if (left < ends) return undefined
  return (next ??= turn().then(() => {
    next = undefined
    const now = spent()
    const others = now - left
    ends = others > LONG ? now + Math.min(others, 2 * LONG) : now
  }))
}
