import { setImmediate as turn } from 'node:timers/promises'
import { readLogState, silenceOf } from './log-state.ts'

/** What a read is to see. */
export interface Wanted {
  /** All up to this place in the log. */
  readonly after?: number | undefined
  /** All that was acknowledged before it was asked for, by any node. */
  readonly linearizable?: boolean | undefined
}

/** How a node of many stands to the log that they share, as its threads see it. */
export interface Replica {
  /** The place up to which this node has applied it. */
  readonly sequence: number
  /** For how long this node has not had all of it (s); 0 while it has. */
  readonly age: number
  /** Resolves once reads here see what is wanted. @throws LOG_BEHIND, LOG_UNAVAILABLE */
  seen(wanted: Wanted): Promise<void>
}

/** The log, as a thread reaches it: by main. */
export interface LogLine {
  /** How far it is: see `log-state.ts`. */
  readonly state: SharedArrayBuffer
  /** @throws LOG_BEHIND */
  reached(sequence: number): Promise<void>
  /** @param waiting for so many reads. @throws LOG_UNAVAILABLE */
  barrier(waiting: number): Promise<void>
}

/** Every node hears of the log each second: what is older than this has lost it (s). */
const FRESH = 3

/** What comes while main has not answered what went before is held for so long (ms). */
const HOLD = 1

/**
 * Resolves once what belongs together has come: all that the loop reads in this turn. Clients that were answered together
 * come back over many turns, and waking main for each of them costs more than all the rest of a write; while it is busy
 * with what this thread asked before, they are held a little, and it is woken once.
 */
export const gathered = (isUnderWay: boolean): Promise<void> =>
  isUnderWay ? new Promise((resolve) => setTimeout(resolve, HOLD)) : turn()

export function createReplica({ state, reached, barrier }: LogLine): Replica {
  let passed: Promise<void> | undefined
  let waiting = 0
  let underWay = 0

  /** Who asks together shares one: it is asked for after all of them have come. */
  function passBarrier(): Promise<void> {
    waiting++
    return (passed ??= gathered(underWay > 0).then(() => {
      const all = waiting
      passed = undefined
      waiting = 0
      underWay++
      return barrier(all).finally(() => underWay--)
    }))
  }

  return {
    get sequence() {
      return readLogState(state).applied
    },
    get age() {
      const seconds = Math.floor(silenceOf(readLogState(state)))
      return seconds > FRESH ? seconds : 0
    },
    async seen({ after = 0, linearizable = false }) {
      if (linearizable) await passBarrier()
      if (after > readLogState(state).applied) await reached(after)
    },
  }
}

/** What a read on a node of many says of itself: up to where in the log it is at least, and how old, where that is known to be old. */
export function freshnessOf({ sequence, age }: Replica): string[] {
  const headers = ['sequence', String(sequence)]
  return age > 0 ? [...headers, 'age', String(age)] : headers
}
