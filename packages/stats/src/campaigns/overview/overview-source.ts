import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { toSteadyTime } from '@influencer-stats/runtime/steady-clock'
import { toKnownSummary } from '../../core/prepared-reply.ts'
import type { Snapshot } from '../../core/video-numbers.ts'
import type { ReportedTotals } from '../../posts/reported-totals.ts'
import type { Collection, MaybePromise, StatsState } from '../../state/stats-state.ts'
import type { OverviewRow } from './overview-selection.ts'

/** A collection in an overview. */
export type CollectionRow = OverviewRow<Collection>

/** Source of the rows of an overview. */
export interface OverviewSource {
  /** Yields all rows in pages. Other work runs between two pages. */
  readPages(): AsyncIterable<readonly CollectionRow[]>
  getRow(id: string): MaybePromise<CollectionRow | undefined>
  /**
   * Calls `onChange` with the id of every row that is added, changed or removed, and without an id if all rows are
   * replaced. Absent if the source does not notice changes.
   */
  watch?(onChange: (id?: string) => void): void
}

const PAGE_SIZE = 100

/**
 * Yields rows in pages.
 * @param prepareRow makes a row ready for a response
 */
export async function* toPages<T>(rows: readonly T[], prepareRow: (row: T) => T): AsyncGenerator<readonly T[]> {
  for (let i = 0; i < rows.length; i += PAGE_SIZE) {
    yield rows.slice(i, i + PAGE_SIZE).map(prepareRow)
    await yieldTurn()
  }
}

/**
 * Returns the stored collections with their last stored numbers.
 * @param source origin of the stored numbers
 * @param reported sums of the posts of collections
 */
export function createStoredRows(
  state: Pick<StatsState, 'list' | 'get' | 'getSnapshot' | 'getSnapshots'>,
  source: string,
  reported?: Pick<ReportedTotals, 'get'>,
): OverviewSource {
  const toRow = (collection: Collection, snapshot: Snapshot | undefined): CollectionRow => ({
    collection,
    known:
      snapshot &&
      toKnownSummary({ snapshot, at: toSteadyTime(snapshot.asOf), source, reported: reported?.get(collection.id) }),
  })
  return {
    async *readPages() {
      for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
        const snapshots = await state.getSnapshots(page.map(({ id }) => id))
        yield page.map((collection, i) => toRow(collection, snapshots[i]))
        await yieldTurn()
      }
    },
    async getRow(id) {
      const collection = await state.get(id)
      return collection && toRow(collection, await state.getSnapshot(id))
    },
  }
}
