import type { RetentionTiers } from '../core/history/retention-tiers.ts'
import { DAY_MS } from '../core/quota-budget.ts'
import type { StatsState } from '../state/stats-state.ts'
import { pruneRecords } from './record-retention.ts'
import { pruneCollections, pruneVideos } from './retention.ts'

/**
 * Interval between two passes that read everything (ms). The passes between them read only what has become old enough
 * since, so they would overlook older points that another node imports.
 */
const WHOLE_INTERVAL_MS = DAY_MS

/** Deletes old data. A pass may be repeated at any time. */
export class Pruner {
  readonly #state: StatsState
  readonly #tiers: RetentionTiers
  /** Times of the last pass, and of the last one that read everything (ms since 1970). */
  #prunedAt: number | undefined
  #prunedWholeAt = -Infinity

  constructor(state: StatsState, tiers: RetentionTiers) {
    this.#state = state
    this.#tiers = tiers
  }

  /** Makes the next pass read everything. */
  requireWhole(): void {
    this.#prunedWholeAt = -Infinity
  }

  /**
   * Prunes every history, and deletes videos whose details are too old: see `pruneVideos`. Once a day it also deletes
   * channels and playlists: see `pruneRecords`. They change so rarely that a pass per hour would find nothing.
   */
  async prune(now: number): Promise<void> {
    const isWhole = now - this.#prunedWholeAt >= WHOLE_INTERVAL_MS
    const prunedAt = isWhole ? undefined : this.#prunedAt
    await pruneCollections(this.#state, this.#tiers, now, prunedAt)
    await pruneVideos(this.#state, this.#tiers, now, prunedAt)
    if (isWhole) await pruneRecords(this.#state, this.#tiers, now)
    this.#prunedAt = now
    if (isWhole) this.#prunedWholeAt = now
  }
}
