import { superfluous, type Point } from './core/history.ts'
import { historyPages } from './history-pages.ts'
import { historyOf, type State } from './state/state.ts'

const PAGE = 100

/** Thins the history of every collection: all points of a day, then one an hour, none older than `retention` (ms). */
export async function tidyCollections(state: State, retention: number, now: number): Promise<void> {
  for (let after = '', page; (page = await state.list(after, PAGE)).length > 0; after = page.at(-1)!.id) {
    for (const { id } of page) await thin(state, id, retention, now)
  }
}

async function thin(state: State, id: string, retention: number, now: number): Promise<void> {
  let last: Point[] = []
  let keptAt: number | undefined
  for await (const page of historyPages(state, id, 0, now)) {
    const points = [...last, ...page]
    const times = superfluous(points, now, retention, keptAt)
    keptAt = points.slice(0, -1).findLast(({ at }) => !times.includes(at))?.at ?? keptAt
    // Judged once more with the points after it.
    last = points.slice(-1)
    if (times.length > 0) await state.deletePoints(id, times)
  }
}

/**
 * Cuts the history of every video, which has a point an hour anyway, to `retention` (ms). Videos of which nothing was
 * heard for so long are forgotten with theirs.
 */
export async function tidyVideos(state: State, retention: number, now: number): Promise<void> {
  const oldest = now - retention
  for (let after = '', page; (page = await state.listVideos(after, PAGE)).length > 0; after = page.at(-1)!.id) {
    const gone = page.filter(({ asOf }) => asOf < oldest).map(({ id }) => id)
    for (const { id } of page) await cut(state, historyOf(id), gone.includes(id) ? now : oldest - 1)
    if (gone.length > 0) await state.deleteVideos(gone)
  }
}

async function cut(state: State, id: string, until: number): Promise<void> {
  for await (const page of historyPages(state, id, 0, until)) {
    const times = page.map(({ at }) => at)
    await state.deletePoints(id, times)
  }
}
