import { setImmediate as turn } from 'node:timers/promises'
import { readLogState, getStalenessSeconds } from './log-state.ts'

/** Consistency that a read requires. */
export interface ReadConsistency {
  /** Sequence that the node must have applied. */
  readonly after?: number | undefined
  /** True if the read must see all writes that any node acknowledged before the request. */
  readonly linearizable?: boolean | undefined
}

/** State of a cluster node's copy of the data, which the node derives from the log, as its threads see it. */
export interface Replica {
  /** Last sequence that this node has applied. */
  readonly sequence: number
  /** Time since this node last had all known entries (whole seconds); 0 if it is less than 4 s. */
  readonly age: number
  /** Resolves once reads on this node have the consistency. @throws SEQUENCE_WAIT_TIMEOUT, LOG_UNAVAILABLE */
  waitForConsistency(consistency: ReadConsistency): Promise<void>
}

/** Access of a thread to the log, through the main thread. */
export interface LogChannel {
  /** State of the log: see `log-state.ts`. */
  readonly state: SharedArrayBuffer
  /** @throws SEQUENCE_WAIT_TIMEOUT, LOG_UNAVAILABLE */
  waitForSequence(sequence: number): Promise<void>
  /** @param waiters number of reads that wait for it. @throws LOG_UNAVAILABLE */
  barrier(waiters: number): Promise<void>
}

/**
 * Greatest age that is reported as 0 (s). Every node polls the log each second, so a greater age means that the node
 * lost contact to the log, or applies its entries too slowly.
 */
const MAX_FRESH_AGE_S = 3

/** Delay of requests while the main thread handles an earlier one of this thread (ms). */
const BATCH_DELAY_MS = 1

/**
 * Resolves when the requests that have arrived so far should go to the main thread, in one message. Waking the main
 * thread costs more than everything else in a write. So they go at the end of this turn of the event loop. While the
 * main thread handles an earlier request of this thread, they go after 1 ms: clients that received replies together
 * send their next requests over many turns, and the delay collects these requests.
 */
export const batchPerTurn = (isInFlight: boolean): Promise<void> =>
  isInFlight ? new Promise((resolve) => setTimeout(resolve, BATCH_DELAY_MS)) : turn()

export function createReplica({ state, waitForSequence, barrier }: LogChannel): Replica {
  let sharedBarrier: Promise<void> | undefined
  let waiters = 0
  let inFlight = 0

  /** Reads of one batch share a barrier. It starts after the arrival of the last read, because it must follow all. */
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

/**
 * Returns the headers of a reply to a read: a sequence up to which the node has applied the log, and `age` if it is not
 * 0.
 */
export function toStalenessHeaders({ sequence, age }: Replica): string[] {
  const headers = ['sequence', String(sequence)]
  return age > 0 ? [...headers, 'age', String(age)] : headers
}
