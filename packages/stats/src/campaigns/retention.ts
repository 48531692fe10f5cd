import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import type { RetentionTiers } from '../core/history/retention-tiers.ts'
import { findPointsToPrune } from '../core/history-points.ts'
import { DAY_MS } from '../core/quota-budget.ts'
import { toHistoryId, type MaybePromise, type StatsState, type TrashedCollection } from '../state/stats-state.ts'
import { readHistoryPages } from './history-pages.ts'

const PAGE_SIZE = 100

/** Times (ms, both inclusive) in which points may have to be deleted. */
interface PruneRange {
  readonly from: number
  readonly to: number
}

/**
 * Returns the parts of a history that became old enough for another tier since an earlier pass, each from the beginning of
 * its day. Between them no point can be superfluous, unless it was added after that pass.
 * @param prunedAt time of the earlier pass (ms); absent: the result is the whole history
 */
function findRanges({ hourly, daily }: RetentionTiers, now: number, prunedAt = -Infinity): PruneRange[] {
  if (prunedAt === -Infinity || prunedAt > now) return [{ from: 0, to: now }]
  const toRange = (age: number) => ({ from: Math.floor((prunedAt - age) / DAY_MS) * DAY_MS, to: now - age })
  const thinned = [...new Set([hourly, DAY_MS])].filter((age) => age < daily).map(toRange)
  return [{ from: 0, to: now - daily - 1 }, ...thinned]
}

/**
 * Prunes the history of every collection: see `findPointsToPrune`. Other work runs between two collections and between two
 * pages of a history.
 * @param prunedAt time of the previous pass (ms): only what has changed since is read. Absent: whole histories are read
 */
export async function pruneCollections(
  state: StatsState,
  tiers: RetentionTiers,
  now: number,
  prunedAt?: number,
): Promise<void> {
  const ranges = findRanges(tiers, now, prunedAt)
  for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
    for (const { id } of page) await pruneHistory(state, id, tiers, now, ranges)
  }
  for await (const { id } of readTrash(state)) await pruneHistory(state, id, tiers, now, ranges)
}

/** Yields the collections in the trash, in the order of their ids. */
export async function* readTrash(state: Pick<StatsState, 'listRecords'>): AsyncGenerator<TrashedCollection> {
  const readPage = (after: string) => state.listRecords('trash', { after, limit: PAGE_SIZE })
  for (let after = '', page; (page = await readPage(after)).length > 0; after = page.at(-1)!.key)
    for (const { value } of page) yield value
}

async function pruneHistory(
  state: StatsState,
  id: string,
  tiers: RetentionTiers,
  now: number,
  ranges: readonly PruneRange[],
): Promise<void> {
  await yieldTurn()
  for (const { from, to } of ranges)
    await prunePages(readHistoryPages(state, id, from, to), {
      tiers,
      now,
      getRetainedAt: async () => (from > 0 ? (await state.getPointAt(id, from - 1))?.at : undefined),
      deletePoints: (points) =>
        state.deletePoints(
          id,
          points.map(({ at }) => at),
        ),
    })
}

/** How `prunePages` prunes a history. */
export interface PagePruning<P> {
  readonly tiers: RetentionTiers
  readonly now: number
  /** Returns the time of the last point before the first page. Called if there is a page. */
  getRetainedAt?(): Promise<number | undefined>
  deletePoints(points: readonly P[]): MaybePromise<void>
}

/** Prunes a history of which `pages` has the points in ascending order. */
export async function prunePages<P extends { readonly at: number }>(
  pages: AsyncIterable<readonly P[]>,
  { tiers, now, getRetainedAt, deletePoints }: PagePruning<P>,
): Promise<void> {
  let last: readonly P[] = []
  let retainedAt: number | undefined
  for await (const page of pages) {
    retainedAt ??= await getRetainedAt?.()
    const points = [...last, ...page]
    const times = new Set(findPointsToPrune(points, now, tiers, retainedAt))
    retainedAt = points.slice(0, -1).findLast(({ at }) => !times.has(at))?.at ?? retainedAt
    // This point is checked again with the points after it.
    last = points.slice(-1)
    if (times.size > 0) await deletePoints(points.filter(({ at }) => times.has(at)))
  }
}

/**
 * Prunes the history of every video, as those of collections. Videos whose details are older than `tiers.hourly` are
 * deleted with their histories. The recorder already limits these histories to about one point per hour.
 * @param prunedAt as for `pruneCollections`
 */
export async function pruneVideos(
  state: StatsState,
  tiers: RetentionTiers,
  now: number,
  prunedAt?: number,
): Promise<void> {
  const oldest = now - tiers.hourly
  const ranges = findRanges(tiers, now, prunedAt)
  for (let after = '', page; (page = await state.listVideos(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
    const expired = page.filter(({ asOf }) => asOf < oldest).map(({ id }) => id)
    for (const { id } of page) {
      if (expired.includes(id)) await deletePointsUntil(state, toHistoryId(id), now)
      else await pruneHistory(state, toHistoryId(id), tiers, now, ranges)
    }
    if (expired.length > 0) await state.deleteVideos(expired)
  }
}

async function deletePointsUntil(state: StatsState, id: string, until: number): Promise<void> {
  for await (const page of readHistoryPages(state, id, 0, until)) {
    const times = page.map(({ at }) => at)
    await state.deletePoints(id, times)
  }
}
