import { setImmediate as nextTurn } from 'node:timers/promises'

/** Maximum time that the deferrable work of all requests may take in one turn of the event loop (ms). */
const MAX_TURN_MS = 5

let turnDeadline = 0

/**
 * Returns the time from which on deferrable work must wait for the next turn of this thread's event loop (as
 * `performance.now()` counts).
 */
export function getTurnDeadline(): number {
  if (turnDeadline === 0) {
    turnDeadline = performance.now() + MAX_TURN_MS
    setImmediate(() => (turnDeadline = 0))
  }
  return turnDeadline
}

/**
 * Waits for the next turn of the event loop if the current turn has used its time. It must be called after a piece of
 * work, not before: otherwise a turn whose time is used could pass without any work.
 */
export async function yieldTurn(): Promise<void> {
  if (performance.now() >= getTurnDeadline()) await nextTurn()
}

/**
 * Creates a function that at most `limit` callers pass in each turn of the event loop. Further callers wait for later
 * turns, in their order, and other work proceeds meanwhile.
 */
export function createPerTurnLimiter(limit: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let left = limit

  function startTurn(): void {
    const admitted = waiting.splice(0, limit)
    left = limit - admitted.length
    if (admitted.length > 0) setImmediate(startTurn)
    for (const admit of admitted) admit()
  }

  return () => {
    if (left === limit) setImmediate(startTurn)
    if (left === 0) return new Promise((admit) => waiting.push(admit))
    left--
    return undefined
  }
}

const STEPS_PER_TIME_CHECK = 128

/** Visits every number below `count`. Once per `STEPS_PER_TIME_CHECK` visits, it calls `yieldTurn`. */
export async function forEachInTurns(count: number, visit: (number: number) => void): Promise<void> {
  for (let number = 0; number < count; number++) {
    visit(number)
    if (number % STEPS_PER_TIME_CHECK === 0) await yieldTurn()
  }
}
