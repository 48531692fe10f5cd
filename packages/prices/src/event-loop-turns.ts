import { setImmediate as nextTurn } from 'node:timers/promises'

/** So long may the work of all requests hold a turn of the event loop (ms). */
const MAX_TURN_MS = 5

let turnDeadline = 0

/** When work that can wait is to be left to the next turn of this thread's event loop (as `performance.now()` counts). */
export function getTurnDeadline(): number {
  if (turnDeadline === 0) {
    turnDeadline = performance.now() + MAX_TURN_MS
    setImmediate(() => (turnDeadline = 0))
  }
  return turnDeadline
}

/** Waits for the next turn where this one has gone on for long enough. To be called after some work, or nobody gets on. */
export async function yieldTurn(): Promise<void> {
  if (performance.now() >= getTurnDeadline()) await nextTurn()
}

/** Lets so many pass in a turn of the event loop, in their order: the rest waits for turns to come, and others get on meanwhile. */
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

/** Does something with every number below `count`, and gives others their turn. */
export async function forEachInTurns(count: number, visit: (number: number) => void): Promise<void> {
  for (let number = 0; number < count; number++) {
    visit(number)
    if (number % STEPS_PER_TIME_CHECK === 0) await yieldTurn()
  }
}
