import { yieldTurn } from '@influencer-stats/runtime/async/yield'
import { selectEveryStep, type Point } from '../core/history-points.ts'
import type { StateReader } from '../state/stats-state.ts'

/** Number of points per page: about 2 ms of work. */
const PAGE_SIZE = 500

/**
 * Yields the points from `from` to `to` (ms, both inclusive), ascending, in pages. Other work runs between two pages.
 */
export async function* readHistoryPages(
  state: Pick<StateReader, 'getHistory'>,
  id: string,
  from: number,
  to: number,
): AsyncGenerator<Point[]> {
  for (let start = from; ; await yieldTurn()) {
    const page = await state.getHistory(id, start, to, PAGE_SIZE)
    if (page.length > 0) yield page
    if (page.length < PAGE_SIZE) return
    start = page.at(-1)!.at + 1
  }
}

/**
 * Yields the last point of each step, in pages.
 * @param pages points in ascending order
 * @param toStep returns the step of a time (ms)
 */
export async function* selectStepPages(
  pages: AsyncIterable<Point[]>,
  toStep: (at: number) => number | string,
): AsyncGenerator<Point[]> {
  let last: Point[] = []
  for await (const page of pages) {
    const selected = selectEveryStep([...last, ...page], toStep)
    // Only the next page shows if this point is the last of its step.
    last = selected.splice(-1)
    yield selected
  }
  yield last
}
