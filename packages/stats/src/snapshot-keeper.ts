import type { CollectionsOwner } from './collections.ts'
import type { Reading } from './core/prepared.ts'
import type { Logger } from './logger/logger.ts'
import type { Collection } from './state/state.ts'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import { resolveWithin } from '@influencer-stats/runtime/resolve-within'

export interface SnapshotKeeperOptions {
  readonly collections: Pick<CollectionsOwner, 'saveSnapshot'>
  readonly logger: Logger
}

interface Kept {
  at: number
  isComplete: boolean
  isBusy: boolean
}

/** Those who are told numbers wait this long at most for them to be kept (ms). */
const PATIENCE = 500

/**
 * Keeps the numbers of collections: once all of a collection's videos are newer than what was kept last, so that a large
 * one, which takes many calls, is not kept after each of them. Nobody waits long for it: numbers that are not kept are
 * still right.
 */
export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions
  readonly #kept = new WeakMap<Collection, Kept>()

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options
  }

  /** Keeps the numbers that a changed collection has from now on. */
  keepChange(collection: Collection, { snapshot, at }: Reading): Promise<void> {
    return this.keep(collection, { snapshot: { ...snapshot, since: Date.now() }, at }, Infinity)
  }

  /** @param interval from one refresh to the next: what is incomplete is kept no more often (ms) */
  async keep(collection: Collection, { snapshot, at }: Reading, interval: number): Promise<void> {
    const now = steadyNow()
    const kept = this.#kept.get(collection) ?? { at: -Infinity, isComplete: false, isBusy: false }
    this.#kept.set(collection, kept)
    const isComplete = snapshot.unknown === undefined
    const isNew = at >= kept.at || (isComplete && !kept.isComplete)
    if (kept.isBusy || !(isNew || now - kept.at > interval)) return
    const { collections, logger } = this.#options
    Object.assign(kept, { at: now, isComplete, isBusy: true })
    try {
      await collections.saveSnapshot(collection, snapshot)
    } catch (fault) {
      logger.error(`collection ${collection.id}: its numbers could not be kept`, fault)
    } finally {
      kept.isBusy = false
    }
  }

  /** Waits for what is being kept, but not for long. */
  patience = (keeping: readonly Promise<void>[]): Promise<unknown> =>
    resolveWithin(Promise.all(keeping), PATIENCE, undefined)
}
