import { parsePostKey } from '../core/posts/post.ts'
import type { RecordChange } from '../core/record-kinds.ts'
import type { Collection, StatsState } from '../state/stats-state.ts'
import type { ReportedTotals } from './reported-totals.ts'

/** Reported sums in the published replies of a process. */
export interface PublishedPosts {
  /** Forgets the posts of a deleted collection that a new one replaces. */
  onCollectionChange(collection: Collection | undefined): unknown
  /** Reads the posts of collections after a change. Resolves when every thread has their sums. */
  apply(ids: readonly string[]): Promise<void>
}

/** @param getReplyTable undefined if the threads prepare the replies */
export const createPublishedPosts = (
  state: Pick<StatsState, 'listRecords'>,
  reported: ReportedTotals,
  getReplyTable: () => { publishChanged(ids: readonly string[]): Promise<void> } | undefined,
): PublishedPosts => ({
  onCollectionChange: (collection) => reported.onCollectionChange(collection),
  async apply(ids) {
    await reported.reload(state, ids)
    await getReplyTable()?.publishChanged(ids)
  },
})

/** Returns the collections whose posts records contain. */
export const listPostCollections = (rows: readonly Pick<RecordChange, 'kind' | 'key'>[]): string[] => [
  ...new Set(rows.filter(({ kind }) => kind === 'post').map(({ key }) => parsePostKey(key).collection)),
]
