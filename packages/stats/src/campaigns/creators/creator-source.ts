import type { VideoNumbers } from '../../core/video-numbers.ts'
import type { Collection, MaybePromise, StatsState } from '../../state/stats-state.ts'
import { createStoredRows, type OverviewSource } from '../overview/overview-source.ts'

/** Source of the collections and of the numbers of their videos. */
export interface CreatorSource extends OverviewSource {
  /** Returns the numbers of those videos of a collection that have any. */
  getNumbers(collection: Collection): MaybePromise<readonly VideoNumbers[]>
}

/** The table of the poller's numbers. */
interface NumbersTable {
  readonly rows: OverviewSource
  readonly videos: { getNumbers(ids: readonly string[]): VideoNumbers[] }
}

/** Returns the collections of the poller. @param getTable returns the table, which changes with the source */
export const createPolledCreators = (getTable: () => NumbersTable): CreatorSource => ({
  readPages: () => getTable().rows.readPages(),
  getRow: (id) => getTable().rows.getRow(id),
  getNumbers: ({ videos }) => getTable().videos.getNumbers(videos),
})

/** Returns the stored collections with their last stored numbers. @param source origin of the stored numbers */
export const createStoredCreators = (
  state: Pick<StatsState, 'list' | 'get' | 'getSnapshot' | 'getSnapshots'>,
  source: string,
): CreatorSource => ({
  ...createStoredRows(state, source),
  async getNumbers({ id, videos }) {
    const stored = (await state.getSnapshot(id))?.videos ?? []
    // The snapshot may be older than a change of the collection.
    const members = new Set(videos)
    return stored.filter((video) => members.has(video.id))
  },
})
