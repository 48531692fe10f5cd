import type { Event } from '../core/event.ts'
import type { Reader } from '../core/reader.ts'

/** How far a topic's events have been read. */
export interface Place {
  readonly events: readonly Event[]
  at: number
}

// What an event takes besides its value, about (characters).
const LINES = 32

const seqAt = ({ events, at }: Place): number => events[at]!.seq

/**
 * The first events of all that a reader may see, in order, each once.
 * @param places none at its end
 * @param most about so many characters, and one event at least
 */
export function merge(places: Place[], most: number, reader: Reader): Event[] {
  const events: Event[] = []
  // A heap: the place with the first event stands first, and each before those at twice its own place and behind.
  for (let i = (places.length >> 1) - 1; i >= 0; i--) sink(places, i)
  let last = 0
  for (let size = 0; size < most && places.length > 0;) {
    const first = places[0]!
    const event = first.events[first.at++]!
    if (first.at === first.events.length) {
      const end = places.pop()!
      if (end !== first) places[0] = end
    }
    sink(places, 0)
    // An event that was put to several topics is one of each.
    if (event.seq === last) continue
    last = event.seq
    if (!reader.sees(event)) continue
    events.push(event)
    size += event.value.length + LINES
  }
  return events
}

function sink(places: Place[], from: number): void {
  for (let at = from; ;) {
    let least = at
    for (const child of [2 * at + 1, 2 * at + 2]) {
      if (child < places.length && seqAt(places[child]!) < seqAt(places[least]!)) least = child
    }
    if (least === at) return
    ;[places[at], places[least]] = [places[least]!, places[at]!]
    at = least
  }
}
