import { createBackOff, pause, retry } from '@influencer-stats/runtime/async/retry'
import { Serial } from '@influencer-stats/runtime/async/serial'
import { Problem } from '@influencer-stats/runtime/problems'
import { errors } from '../errors.ts'
import type { SnapshotWriter } from '../persist/snapshot-writer.ts'
import type { Collection, MaybePromise, StatsState, TrashedCollection } from '../state/stats-state.ts'

/** Maximum number of queued changes. LevelDB writes a thousand in half a second. */
const MAX_PENDING_CHANGES = 1_000

const RETRY_OPTIONS = { headers: { 'retry-after': '1' } }

/** Codes of faults that would also fail the queued changes. */
const OUTAGE_CODES = new Set<unknown>([errors.STATE_UNAVAILABLE.code, errors.OUTCOME_UNKNOWN.code])

/** One change of a collection. Without `after` it is a deletion, without `before` a creation. */
export interface CollectionChange {
  readonly id: string
  readonly before: Collection | undefined
  readonly after: Collection | undefined
  /** The collection in the trash before the change, if the change restores or deletes it. */
  readonly trashBefore?: TrashedCollection | undefined
  /** The collection in the trash after the change, if the change moves it there. */
  readonly trashAfter?: TrashedCollection | undefined
}

type ChangedState = Pick<StatsState, 'get' | 'put' | 'delete' | 'trash' | 'restore'>

export interface ChangeWriterOptions {
  readonly state: ChangedState
  readonly snapshotWriter: Pick<SnapshotWriter, 'runWithoutWrites'>
  /** Called with a collection once the outcome of its change is known, if it was unknown before. */
  onSettled(id: string, collection: Collection | undefined): MaybePromise<void>
}

/**
 * Writes changes to a state that no other process writes to, one at a time. It repeats a change with an unknown outcome
 * until the outcome is known, and refuses all other changes until then.
 */
export class ChangeWriter {
  readonly #options: ChangeWriterOptions
  readonly #serial = new Serial()
  readonly #closing = new AbortController()
  #pending = 0
  #outages = 0
  #settling: Promise<void> | undefined

  constructor(options: ChangeWriterOptions) {
    this.#options = options
  }

  /**
   * Runs a change after all earlier changes have ended.
   * @throws Problem `STATE_UNAVAILABLE` if too many changes wait, or while the outcome of an earlier change is unknown.
   * Also if an earlier change met an outage while this one waited: this one would wait for the same timeout.
   */
  run<T>(change: () => Promise<T>): Promise<T> {
    if (this.#pending >= MAX_PENDING_CHANGES)
      return Promise.reject(errors.STATE_UNAVAILABLE('too many queued changes', RETRY_OPTIONS))
    this.#pending++
    const outages = this.#outages
    return this.#serial.run(async () => {
      this.#pending--
      if (outages !== this.#outages || this.#settling) throw errors.STATE_UNAVAILABLE(undefined, RETRY_OPTIONS)
      try {
        return await change()
      } catch (fault) {
        if (fault instanceof Problem && OUTAGE_CODES.has(fault.code)) this.#outages++
        throw fault
      }
    })
  }

  /**
   * Writes a change durably.
   * @throws Problem `STATE_UNAVAILABLE`; `OUTCOME_UNKNOWN`, after which the outcome is determined in the background
   */
  write(change: CollectionChange): Promise<void> {
    return this.#options.snapshotWriter.runWithoutWrites(change.id, () => this.#tryWrite(change))
  }

  /** Waits for the queued changes. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#serial.waitUntilIdle()
    await this.#settling
  }

  async #tryWrite(change: CollectionChange): Promise<void> {
    try {
      await writeChange(this.#options.state, change)
    } catch (fault) {
      if ((fault as { code?: string }).code !== errors.OUTCOME_UNKNOWN.code) throw fault
      // If only the reply was lost, this determines the outcome at once.
      if (await this.#settle(change).catch(() => false)) return
      this.#settling = this.#settleLater(change)
      throw fault
    }
  }

  async #settleLater(change: CollectionChange): Promise<void> {
    const { state, snapshotWriter, onSettled } = this.#options
    const { signal } = this.#closing
    const delays = createBackOff()
    const { id, after } = change
    await pause(delays.next(), signal)
    // While the state is unavailable, it reports that itself.
    await retry(
      async () => {
        const isWritten = await snapshotWriter.runWithoutWrites(id, () => this.#settle(change))
        await onSettled(id, isWritten ? after : await state.get(id))
      },
      { signal, delays },
    )
    this.#settling = undefined
  }

  /**
   * Repeats a change that may have been applied or may still be in flight. The write names the revision that it
   * replaces, so it takes effect once, however often it arrives.
   * @returns false if the collection has another revision
   */
  async #settle(change: CollectionChange): Promise<boolean> {
    const { state } = this.#options
    const { id, before, after, trashBefore, trashAfter } = change
    const now = await state.get(id)
    const isWritten = after ? now?.revision === after.revision : !now
    // A deletion for good and a restoration take more than one write: these are repeated.
    if (isWritten && (trashAfter || (after && !trashBefore))) return true
    if (!isWritten && now?.revision !== before?.revision) return false
    await writeChange(state, { ...change, before: now })
    return true
  }
}

export async function writeChange(
  state: Omit<ChangedState, 'get'>,
  { id, before, after, trashBefore, trashAfter }: CollectionChange,
): Promise<void> {
  if (trashAfter && before) await state.trash(trashAfter, before)
  else if (trashBefore && after) await state.restore(after, trashBefore)
  else if (after) await state.put(after, before)
  else await state.delete(id, before, trashBefore)
}
