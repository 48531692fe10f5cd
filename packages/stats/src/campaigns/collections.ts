import type { Snapshot } from '../core/video-numbers.ts'
import type { ExportLine } from '../core/export-line.ts'
import type { CollectionVersion, MaybePromise, StateReader, VideoRow } from '../state/stats-state.ts'
import type { ChangeArgs, ChangeName, ChangeResult } from './collection-changes.ts'

/** Collections for routes and caches, independent of the thread that owns the state. */
export interface Collections {
  readonly state: StateReader
  /**
   * Makes a change of `collectionChanges` or `trashChanges`.
   * @throws Problem `INVALID_DATE_RANGE`, `COST_AMBIGUOUS`; `STATE_UNAVAILABLE`, `LOG_UNAVAILABLE`: the change is not applied;
   * `OUTCOME_UNKNOWN`: it may have been applied, or may still be. Also throws the problems of the change
   */
  change<Name extends ChangeName>(name: Name, id: string, ...args: ChangeArgs<Name>): Promise<ChangeResult<Name>>
  /**
   * Stores numbers; the history gets a point if the sums changed. Does nothing if the collection was deleted or changed
   * since the request for its numbers. Does not wait for a failing state: the newest numbers are stored later.
   */
  saveSnapshot(collection: CollectionVersion, snapshot: Snapshot): Promise<void>
  /**
   * Applies lines of an export, all or none. Returns the number of collections that were not replaced, because they are
   * newer.
   * @throws Problem `IMPORT_NOT_SUPPORTED`, `LOG_UNAVAILABLE`, `OUTCOME_UNKNOWN`
   */
  importLines(lines: readonly ExportLine[]): MaybePromise<number | void>
  /** Stores details of videos and points of their histories. */
  saveVideos(rows: readonly VideoRow[]): MaybePromise<void>
}
