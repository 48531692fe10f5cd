import { setImmediate as nextTurn } from 'node:timers/promises'
import { everyStep, type Point } from './core/history.ts'
import type { StateReader } from './state/state.ts'

/** Points that are read, judged or written in one go: some 2 ms. */
const PAGE = 500

/** The points from `from` to `to` (ms, both inclusive), ascending, in pages between which others have their turn. */
export async function* historyPages(
  state: Pick<StateReader, 'history'>,
  id: string,
  from: number,
  to: number,
): AsyncGenerator<Point[]> {
  for (let start = from; ; await nextTurn()) {
    const page = await state.history(id, start, to, PAGE)
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    start = page.at(-1)!.at + 1
  }
}

/** At most one point, the last, for each `step` ms, of pages of points. */
export async function* everyStepOf(pages: AsyncIterable<Point[]>, step: number): AsyncGenerator<Point[]> {
  let last: Point[] = []
  for await (const page of pages) {
    const kept = everyStep([...last, ...page], step)
    // Whether it is the last of its step is known with the next page.
    last = kept.splice(-1)
    yield kept
  }
  yield last
}
