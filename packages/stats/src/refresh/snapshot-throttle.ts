import type { CollectionsOwner } from '../campaigns/collections.ts'
import type { StatsReading } from '../core/prepared-reply.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { Collection } from '../state/stats-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { resolveWithin } from '@influencer-stats/runtime/async/resolve-within'

export interface SnapshotThrottleOptions {
  readonly collections: Pick<CollectionsOwner, 'saveSnapshot'>
  readonly logger: StatsLogger
}

interface SavedSnapshot {
  /** Time of the last save (ms of the monotonic clock). */
  at: number
  /** True if all videos had data at the last save. */
  isComplete: boolean
  /** True while a save is in progress. */
  isBusy: boolean
}

/** Maximum time that publishing waits for numbers to be stored (ms). */
const SAVE_WAIT_MS = 500

/**
 * Stores the numbers of a collection once all of them were requested after the last save, or once all videos have data
 * for the first time. A refresh of a large collection takes many calls, so its numbers are not stored after each call.
 * Publishing waits only briefly for a save, because numbers that are not stored are still right.
 */
export class SnapshotThrottle {
  readonly #options: SnapshotThrottleOptions
  readonly #saved = new WeakMap<Collection, SavedSnapshot>()

  constructor(options: SnapshotThrottleOptions) {
    this.#options = options
  }

  /** Stores the numbers of a changed collection: its sums have their values from now on. */
  saveChanged(collection: Collection, { snapshot, at }: StatsReading): Promise<void> {
    return this.save(collection, { snapshot: { ...snapshot, since: Date.now() }, at }, Infinity)
  }

  /**
   * Stores the numbers of a collection if they are due.
   * @param interval time between two refreshes (ms). Once it has passed since the last save, the numbers are stored even if
   * some of them are older than that save.
   */
  async save(collection: Collection, { snapshot, at }: StatsReading, interval: number): Promise<void> {
    const now = steadyNow()
    const saved = this.#saved.get(collection) ?? { at: -Infinity, isComplete: false, isBusy: false }
    this.#saved.set(collection, saved)
    const isComplete = snapshot.unknown === undefined
    const isNew = at >= saved.at || (isComplete && !saved.isComplete)
    if (saved.isBusy || !(isNew || now - saved.at > interval)) return
    const { collections, logger } = this.#options
    Object.assign(saved, { at: now, isComplete, isBusy: true })
    try {
      await collections.saveSnapshot(collection, snapshot)
    } catch (fault) {
      logger.error(`collection ${collection.id}: its numbers could not be stored`, fault)
    } finally {
      saved.isBusy = false
    }
  }

  /** Waits for current writes, at most `SAVE_WAIT_MS`. */
  waitForSaves = (saves: readonly Promise<void>[]): Promise<unknown> =>
    resolveWithin(Promise.all(saves), SAVE_WAIT_MS, () => undefined)
}
