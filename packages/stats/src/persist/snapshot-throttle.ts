import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { StatsReading } from '../core/prepared-reply.ts'
import { hasSameTotals, sum, type Snapshot, type Totals } from '../core/video-numbers.ts'
import type { StatsLogger } from '../logger/logger.ts'
import type { CollectionVersion } from '../state/stats-state.ts'

export interface SnapshotThrottleOptions {
  readonly collections: { saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): Promise<void> }
  readonly logger: StatsLogger
}

/** The last saved numbers of a collection, as far as the next decision needs them. */
export interface SavedSnapshot {
  readonly revision: number
  /** Time of the save (ms of the monotonic clock). */
  readonly at: number
  readonly asOf: number
  /** True if all videos had data. */
  readonly isComplete: boolean
  /** True until the save ends. */
  isBusy: boolean
  readonly totals: Totals
  readonly marks: number
}

/** Memory of the last saves, by collection. It may forget entries. */
export interface SavedSnapshots<C extends CollectionVersion> {
  get(collection: C): SavedSnapshot | undefined
  set(collection: C, saved: SavedSnapshot): void
}

// Uncached reads of one collection may come thousands of times a second. Unchanged numbers are stored no more often than
// this.
const UNCHANGED_INTERVAL_MS = 1_000

/**
 * Decides when the numbers of a collection are stored: once all of them were requested after the last save, once all
 * videos have data for the first time, or once `interval` has passed since the last save. A refresh of a large collection
 * takes many calls, so its numbers are not stored after each call.
 */
export class SnapshotThrottle<C extends CollectionVersion> {
  readonly #options: SnapshotThrottleOptions
  readonly #saved: SavedSnapshots<C>

  constructor(options: SnapshotThrottleOptions, saved: SavedSnapshots<C>) {
    this.#options = options
    this.#saved = saved
  }

  /**
   * Stores the numbers of a collection if they are due, else returns undefined. The promise never rejects, because numbers
   * that could not be stored are still right.
   * @param interval time after the last save from which the numbers are stored even if some are older than that save (ms).
   * With 0, the numbers are due even during a save.
   */
  save(collection: C, { snapshot, at }: StatsReading, interval: number): Promise<void> | undefined {
    const { id, revision } = collection
    const now = steadyNow()
    const isComplete = snapshot.unknown === undefined
    const found = this.#saved.get(collection)
    const last = found?.revision === revision ? found : undefined
    if (last && interval > 0) {
      const isNew = at >= last.at || (isComplete && !last.isComplete) || now - last.at > interval
      if (last.isBusy || !isNew) return undefined
    }
    const { asOf } = snapshot
    const [totals, marks] = [sum(snapshot.videos), countMarks(snapshot)]
    const next: SavedSnapshot = { revision, at: now, asOf, isComplete, isBusy: true, totals, marks }
    const isSame = last?.marks === next.marks && hasSameTotals(last.totals, next.totals)
    if (isSame && asOf - last.asOf < UNCHANGED_INTERVAL_MS) return undefined
    this.#saved.set(collection, next)
    const { collections, logger } = this.#options
    return collections
      .saveSnapshot({ id, revision }, snapshot)
      .catch((fault: unknown) => logger.error(`collection ${id}: its numbers could not be stored`, fault))
      .finally(() => (next.isBusy = false))
  }
}

/**
 * Returns a weighted count of the removed videos, omitted videos and hidden counts in a snapshot. If it changes, the
 * snapshot has changed although its sums are the same.
 */
const countMarks = ({ videos }: Snapshot): number =>
  videos.reduce(
    (marks, { gone, omitted, hidden }) => marks + (gone ? 1 : omitted ? 2 : 0) + 3 * (hidden?.length ?? 0),
    0,
  )

/** Maximum number of collections whose last saves are in memory. At this number the memory is cleared. */
const MAX_SAVED_ENTRIES = 10_000

/** Creates the memory of a thread that has no collections in memory. */
export function createSavedByIds(): SavedSnapshots<CollectionVersion> {
  const saved = new Map<string, SavedSnapshot>()
  return {
    get: ({ id }) => saved.get(id),
    set({ id }, next) {
      if (saved.size >= MAX_SAVED_ENTRIES) saved.clear()
      saved.set(id, next)
    },
  }
}
