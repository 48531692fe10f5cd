import { findPointsToPrune, type Point } from '../core/history-points.ts'
import { readHistoryPages } from './history-pages.ts'
import { toHistoryId, type StatsState, type TrashedCollection } from '../state/stats-state.ts'

const PAGE_SIZE = 100

/**
 * Prunes the history of every collection: see `findPointsToPrune`.
 * @param retention maximum age of a point (ms)
 */
export async function pruneCollections(state: StatsState, retention: number, now: number): Promise<void> {
  for (let after = '', page; (page = await state.list(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
    for (const { id } of page) await pruneHistory(state, id, retention, now)
  }
  for await (const { id } of readTrash(state)) await pruneHistory(state, id, retention, now)
}

/** Yields the collections in the trash, in the order of their ids. */
export async function* readTrash(state: Pick<StatsState, 'listRecords'>): AsyncGenerator<TrashedCollection> {
  const readPage = (after: string) => state.listRecords('trash', { after, limit: PAGE_SIZE })
  for (let after = '', page; (page = await readPage(after)).length > 0; after = page.at(-1)!.key)
    for (const { value } of page) yield value
}

async function pruneHistory(state: StatsState, id: string, retention: number, now: number): Promise<void> {
  let last: Point[] = []
  let retainedAt: number | undefined
  for await (const page of readHistoryPages(state, id, 0, now)) {
    const points = [...last, ...page]
    const times = findPointsToPrune(points, now, retention, retainedAt)
    retainedAt = points.slice(0, -1).findLast(({ at }) => !times.includes(at))?.at ?? retainedAt
    // This point is checked again with the points after it.
    last = points.slice(-1)
    if (times.length > 0) await state.deletePoints(id, times)
  }
}

/**
 * Deletes the points of every video's history that are older than `retention` (ms). Videos whose details are older than
 * that are deleted with their histories. The recorder already limits these histories to about one point per hour.
 */
export async function pruneVideos(state: StatsState, retention: number, now: number): Promise<void> {
  const oldest = now - retention
  for (let after = '', page; (page = await state.listVideos(after, PAGE_SIZE)).length > 0; after = page.at(-1)!.id) {
    const expired = page.filter(({ asOf }) => asOf < oldest).map(({ id }) => id)
    for (const { id } of page) await deletePointsUntil(state, toHistoryId(id), expired.includes(id) ? now : oldest - 1)
    if (expired.length > 0) await state.deleteVideos(expired)
  }
}

async function deletePointsUntil(state: StatsState, id: string, until: number): Promise<void> {
  for await (const page of readHistoryPages(state, id, 0, until)) {
    const times = page.map(({ at }) => at)
    await state.deletePoints(id, times)
  }
}
