import { setImmediate as turn } from 'node:timers/promises'
import { readLogState, getStalenessSeconds } from './log-state.ts'

/** What a read is to see. */
export interface ReadConsistency {
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
  /** Resolves once reads here see what is wanted. @throws SEQUENCE_WAIT_TIMEOUT, LOG_UNAVAILABLE */
  waitForConsistency(consistency: ReadConsistency): Promise<void>
}

/** The log, as a thread reaches it: by main. */
export interface LogChannel {
  /** How far it is: see `log-state.ts`. */
  readonly state: SharedArrayBuffer
  /** @throws SEQUENCE_WAIT_TIMEOUT */
  waitForSequence(sequence: number): Promise<void>
  /** @param waiters for so many reads. @throws LOG_UNAVAILABLE */
  barrier(waiters: number): Promise<void>
}

/** Every node hears of the log each second: what is older than this has lost it (s). */
const MAX_FRESH_AGE_S = 3

/** What comes while main has not answered what went before is held for so long (ms). */
const BATCH_DELAY_MS = 1

/**
 * Resolves once what belongs together has come: all that the loop reads in this turn. Clients that were answered together
 * come back over many turns, and waking main for each of them costs more than all the rest of a write; while it is busy
 * with what this thread asked before, they are held a little, and it is woken once.
 */
export const batchPerTurn = (isInFlight: boolean): Promise<void> =>
  isInFlight ? new Promise((resolve) => setTimeout(resolve, BATCH_DELAY_MS)) : turn()

export function createReplica({ state, waitForSequence, barrier }: LogChannel): Replica {
  let sharedBarrier: Promise<void> | undefined
  let waiters = 0
  let inFlight = 0

  /** Who asks together shares one: it is asked for after all of them have come. */
  function shareBarrier(): Promise<void> {
    waiters++
    return (sharedBarrier ??= batchPerTurn(inFlight > 0).then(() => {
      const all = waiters
      sharedBarrier = undefined
      waiters = 0
      inFlight++
      return barrier(all).finally(() => inFlight--)
    }))
  }

  return {
    get sequence() {
      return readLogState(state).applied
    },
    get age() {
      const seconds = Math.floor(getStalenessSeconds(readLogState(state)))
      return seconds > MAX_FRESH_AGE_S ? seconds : 0
    },
    async waitForConsistency({ after = 0, linearizable = false }) {
      if (linearizable) await shareBarrier()
      if (after > readLogState(state).applied) await waitForSequence(after)
    },
  }
}

/** What a read on a node of many says of itself: up to where in the log it is at least, and how old, where that is known to be old. */
export function toStalenessHeaders({ sequence, age }: Replica): string[] {
  const headers = ['sequence', String(sequence)]
  return age > 0 ? [...headers, 'age', String(age)] : headers
}
