import type { Event } from '../core/event.ts'
import type { ReadScope } from '../core/read-scope.ts'

/** How far a topic's events have been read. */
export interface MergeCursor {
  readonly events: readonly Event[]
  at: number
}

// What an event takes besides its value, about (characters).
const EVENT_OVERHEAD_LENGTH = 32

const getSeq = ({ events, at }: MergeCursor): number => events[at]!.seq

/**
 * The first events of all that a reader may see, in order, each once.
 * @param cursors none at its end
 * @param maxLength about so many characters, and one event at least
 */
export function mergeEvents(cursors: MergeCursor[], maxLength: number, reader: ReadScope): Event[] {
  const events: Event[] = []
  // A heap: the place with the first event stands first, and each before those at twice its own place and behind.
  for (let i = (cursors.length >> 1) - 1; i >= 0; i--) siftDown(cursors, i)
  let last = 0
  for (let size = 0; size < maxLength && cursors.length > 0;) {
    const first = cursors[0]!
    const event = first.events[first.at++]!
    if (first.at === first.events.length) {
      const end = cursors.pop()!
      if (end !== first) cursors[0] = end
    }
    siftDown(cursors, 0)
    // An event that was put to several topics is one of each.
    if (event.seq === last) continue
    last = event.seq
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
