import { setImmediate as nextTurn } from 'node:timers/promises'

/** Time that the deferrable work of a thread may take in one turn of the event loop (ms). */
const MAX_TURN_MS = 5
/** CPU time of other tasks in one turn above which the thread counts as overloaded (ms). */
const LONG_TURN_MS = 50
const STEPS_PER_TIME_CHECK = 128

let turnDeadline = 0
let pendingTurn: Promise<void> | undefined
/** Time of the last call of `yieldTurn` that waits (ms of CPU time of this thread). */
let yieldedAt = 0

function getCpuTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

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
 * Lets other tasks run if the deferrable work of all requests has used its time in this turn. Long work calls it after
 * each piece of about 1 ms, and not before the first: otherwise a turn whose time is used could pass without any work.
 *
 * If the other tasks then used more than `LONG_TURN_MS`, the next turn's deferrable work may take as long as they did,
 * at most twice `LONG_TURN_MS`. Without this rule, refused requests would take all the time in an overload, and the
 * accepted work would not progress.
 * @returns undefined if the work should continue at once
 */
export function yieldTurn(): Promise<void> | undefined {
  if (performance.now() < getTurnDeadline()) return undefined
  yieldedAt = getCpuTime()
  return (pendingTurn ??= nextTurn().then(() => {
    pendingTurn = undefined
    const elapsed = getCpuTime() - yieldedAt
    const deadline = getTurnDeadline()
    if (elapsed > LONG_TURN_MS) turnDeadline = deadline - MAX_TURN_MS + Math.min(elapsed, 2 * LONG_TURN_MS)
  }))
}

/** Visits every number below `count`. Once per `STEPS_PER_TIME_CHECK` visits, it calls `yieldTurn`. */
export async function forEachInTurns(count: number, visit: (number: number) => void): Promise<void> {
  for (let number = 0; number < count; number++) {
    visit(number)
    if (number % STEPS_PER_TIME_CHECK === 0) await yieldTurn()
  }
}
