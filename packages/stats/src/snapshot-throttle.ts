import type { CollectionsOwner } from './collections.ts'
import type { StatsReading } from './core/prepared-reply.ts'
import type { StatsLogger } from './logger/logger.ts'
import type { Collection } from './state/stats-state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { resolveWithin } from '@influencer-stats/runtime/resolve-within'

export interface SnapshotThrottleOptions {
  readonly collections: Pick<CollectionsOwner, 'saveSnapshot'>
  readonly logger: StatsLogger
}

interface SavedSnapshot {
  at: number
  isComplete: boolean
  isBusy: boolean
}

/** Those who are told numbers wait this long at most for them to be kept (ms). */
const SAVE_WAIT_MS = 500

/**
 * Keeps the numbers of collections: once all of a collection's videos are newer than what was kept last, so that a large
 * one, which takes many calls, is not kept after each of them. Nobody waits long for it: numbers that are not kept are
 * still right.
 */
export class SnapshotThrottle {
  readonly #options: SnapshotThrottleOptions
  readonly #saved = new WeakMap<Collection, SavedSnapshot>()

  constructor(options: SnapshotThrottleOptions) {
    this.#options = options
  }

  /** Keeps the numbers that a changed collection has from now on. */
  saveChanged(collection: Collection, { snapshot, at }: StatsReading): Promise<void> {
    return this.save(collection, { snapshot: { ...snapshot, since: Date.now() }, at }, Infinity)
  }

  /** @param interval from one refresh to the next: what is incomplete is kept no more often (ms) */
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
      logger.error(`collection ${collection.id}: its numbers could not be kept`, fault)
    } finally {
      saved.isBusy = false
    }
  }

  /** Waits for what is being kept, but not for long. */
  waitForSaves = (saves: readonly Promise<void>[]): Promise<unknown> =>
    resolveWithin(Promise.all(saves), SAVE_WAIT_MS, undefined)
}
