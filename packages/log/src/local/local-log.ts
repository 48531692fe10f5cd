import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { Batcher } from '@influencer-stats/runtime/async/batcher'
import { AppliedProgress } from '../applied-progress.ts'
import { createLeaseLostError, createUnavailableError } from '../errors.ts'
import type { AppendResult, EntryBody, Lease, Log, StateMachine } from '../log.ts'
import { createStartPosition } from '../order/sequencer.ts'

export interface LocalLogOptions {
  readonly stateMachine: StateMachine
  /** Clock of the log (ms since 1970). */
  readonly now?: () => number
}

interface PendingEntry {
  readonly kind: number
  readonly body: EntryBody
  resolve(result: AppendResult<any>): void
  reject(error: unknown): void
}

const NO_BODY = Buffer.alloc(0)

/** Term of every lease: no other process can request one. */
const LOCAL_TERM = 1

/**
 * Opens the log of a standalone service. The order of the calls is the order of the entries. The log stores nothing
 * itself: only the state machine writes to the disk. An entry is applied at the end of the present step of the event
 * loop, together with the other entries of this step. Entries that arrive while the state machine applies a batch
 * become the next batch.
 */
export function openLocalLog({ stateMachine, now = Date.now }: LocalLogOptions): Log {
  let position = stateMachine.getPosition() ?? createStartPosition('local')
  const { epoch } = position
  const progress = new AppliedProgress(position.seq)
  // Entries that are appended before the next microtask join the batch.
  const batcher = new Batcher(apply, queueMicrotask)
  let isClosed = false
  const leases: Lease[] = []

  function append<T>(kind: number, body: EntryBody): Promise<AppendResult<T>> {
    if (isClosed) return Promise.reject(createUnavailableError())
    return new Promise((resolve, reject) => batcher.add({ kind, body, resolve, reject }))
  }

  async function apply(batch: readonly PendingEntry[]): Promise<void> {
    const seq = position.seq + 1
    const at = Math.max(position.at, now())
    const next = { ...position, seq, at }
    const entries = batch.map(({ kind, body }) =>
      Buffer.isBuffer(body) ? { seq, at, kind, body } : { seq, at, kind, body: NO_BODY, value: body.value },
    )
    try {
      const outcomes = await stateMachine.apply(entries, next)
      position = next
      progress.advance(seq)
      for (const [i, { resolve }] of batch.entries()) resolve({ seq, outcome: outcomes[i] })
    } catch (error) {
      // The entries were not applied: their sequence is used again.
      for (const { reject } of batch) reject(error)
    }
  }

  async function barrier(): Promise<number> {
    if (isClosed) throw createUnavailableError()
    await batcher.waitUntilIdle()
    return progress.applied
  }

  /** Creates a lease that this process holds until it is closed. */
  function openLease(): Lease {
    const closing = Promise.withResolvers<void>()
    let term: number | undefined = LOCAL_TERM
    const lease: Lease = {
      get term() {
        return term
      },
      append: async (kind, body) => {
        if (term === undefined) throw createLeaseLostError()
        return append(kind, body)
      },
      async waitUntilHeld() {
        if (term === undefined) throw createUnavailableError()
      },
      waitUntilLost: () => closing.promise,
      async close() {
        term = undefined
        closing.resolve()
      },
    }
    leases.push(lease)
    return lease
  }

  return {
    epoch,
    get state() {
      const { applied } = progress
      const lastContactAt = steadyNow()
      const offset = now() - lastContactAt
      return { applied, known: applied, lastContactAt, clockOffsets: { min: offset, max: offset } }
    },
    append,
    barrier,
    waitForSequence: (seq, timeout) => progress.waitForSequence(seq, timeout),
    openLease,
    // The state machine has all data, so there are neither snapshots nor entries to trim.
    snapshot: async () => progress.applied,
    getLatestSnapshot: async () => progress.applied,
    async trim() {},
    async close() {
      isClosed = true
      for (const lease of leases) void lease.close()
      await batcher.waitUntilIdle()
      progress.close()
    },
  }
}
