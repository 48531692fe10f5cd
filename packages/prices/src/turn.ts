import { setImmediate as nextTurn } from 'node:timers/promises'

/** So long may the work of all requests hold a turn of the event loop (ms). */
const SLICE = 5

let ends = 0

/** When work that can wait is to be left to the next turn of this thread's event loop (as `performance.now()` counts). */
export function turnEnds(): number {
  if (ends === 0) {
    ends = performance.now() + SLICE
    setImmediate(() => (ends = 0))
  }
  return ends
}

/** Waits for the next turn where this one has gone on for long enough. To be called after some work, or nobody gets on. */
export async function yieldTurn(): Promise<void> {
  if (performance.now() >= turnEnds()) await nextTurn()
}

/** Lets so many pass in a turn of the event loop, in their order: the rest waits for turns to come, and others get on meanwhile. */
export function turnstile(most: number): () => Promise<void> | undefined {
  const waiting: (() => void)[] = []
  let left = most

  function renew(): void {
    const passing = waiting.splice(0, most)
    left = most - passing.length
    if (passing.length > 0) setImmediate(renew)
    for (const pass of passing) pass()
  }

  return () => {
    if (left === most) setImmediate(renew)
    if (left === 0) return new Promise((pass) => waiting.push(pass))
    left--
    return undefined
  }
}

const BETWEEN_LOOKS = 128

/** Does something with every number below `count`, and gives others their turn. */
export async function eachInTurns(count: number, visit: (number: number) => void): Promise<void> {
  for (let number = 0; number < count; number++) {
    visit(number)
    if (number % BETWEEN_LOOKS === 0) await yieldTurn()
  }
}
