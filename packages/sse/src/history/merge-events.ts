import type { Event } from '../core/event.ts'
import type { ReadScope } from '../core/read-scope.ts'

/** Read position in a topic's events: `at` is the index of the next event. */
export interface MergeCursor {
  readonly events: readonly Event[]
  at: number
}

// Approximate size of an event without its value (characters).
const EVENT_OVERHEAD_LENGTH = 32

const getSeq = ({ events, at }: MergeCursor): number => events[at]!.seq

/**
 * Returns the first events of all cursors that a reader may read, in order and without duplicates.
 * @param cursors cursors with at least one more event each; the function changes the array
 * @param maxLength approximate maximum length of the events (characters). The result has at least one event if the
 *   reader may read any
 */
export function mergeEvents(cursors: MergeCursor[], maxLength: number, reader: ReadScope): Event[] {
  const events: Event[] = []
  // A binary heap: the cursor with the first event is at 0. The cursor at i precedes those at 2i + 1 and 2i + 2.
  for (let i = (cursors.length >> 1) - 1; i >= 0; i--) siftDown(cursors, i)
  let lastSeq = 0
  for (let size = 0; size < maxLength && cursors.length > 0;) {
    const first = cursors[0]!
    const event = first.events[first.at++]!
    if (first.at === first.events.length) {
      const lastCursor = cursors.pop()!
      if (lastCursor !== first) cursors[0] = lastCursor
    }
    siftDown(cursors, 0)
    // An event with several topics is in the list of each topic.
    if (event.seq === lastSeq) continue
    lastSeq = event.seq
    if (!reader.canRead(event)) continue
    events.push(event)
    size += event.value.length + EVENT_OVERHEAD_LENGTH
  }
  return events
}

function siftDown(cursors: MergeCursor[], from: number): void {
  for (let at = from; ;) {
    let smallest = at
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < cursors.length && getSeq(cursors[child]!) < getSeq(cursors[smallest]!)) smallest = child
    }
    if (smallest === at) return
    ;[cursors[at], cursors[smallest]] = [cursors[smallest]!, cursors[at]!]
    at = smallest
  }
}
