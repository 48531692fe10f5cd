import type { Event } from '../core/event.ts'

/** Events of one topic. */
export class RingTopic {
  readonly name: string
  /** Events up to this sequence number are no longer stored. */
  floor: number
  /** Memory of the stored events (bytes). */
  bytes = 0
  /** Oldest first. The elements before `head` are dropped events. */
  events: Event[] = []
  head = 0

  constructor(name: string, floor: number) {
    this.name = name
    this.floor = floor
  }

  get size(): number {
    return this.events.length - this.head
  }

  get newest(): Event {
    return this.events.at(-1)!
  }
}

/** Returns the index of a topic's first event after `seq`. */
export function findFirstAfter({ events, head }: RingTopic, seq: number): number {
  let low = head
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (events[middle]!.seq > seq) high = middle
    else low = middle + 1
  }
  return low
}
