import type { Event } from '../core/event.ts'
import { newEpoch } from '../core/event-id.ts'
import type { History, HistoryOptions, Kept, Missed } from './history.ts'

export type RingOptions = Omit<HistoryOptions, 'folder'>

/** The events of one topic, oldest first. */
class Topic {
  floor: number
  bytes = 0
  /** Those before `head` are no longer kept. */
  events: Event[] = []
  head = 0

  constructor(floor: number) {
    this.floor = floor
  }

  get size(): number {
    return this.events.length - this.head
  }

  get newest(): Event {
    return this.events.at(-1)!
  }
}

const sizeOf = ({ value }: Event) => Buffer.byteLength(value)

/** Cutting the front off an array costs its length: done rarely, it costs nothing an event. */
const COMPACT_AT = 64

/** In memory, bounded for each topic by count, bytes and age, and in all by topics and bytes. */
export class Ring implements History {
  readonly epoch: string
  seq: number
  readonly #options: RingOptions
  /** In the order in which they were last put to. */
  readonly #topics = new Map<string, Topic>()
  #floor: number
  #bytes = 0

  /** @param kept what it begins with */
  constructor(options: RingOptions, kept: Kept = { epoch: newEpoch(), seq: 0, floor: 0, topics: [] }) {
    this.#options = options
    this.epoch = kept.epoch
    this.seq = kept.seq
    this.#floor = kept.floor
    for (const { topic, floor, events } of kept.topics) {
      const ring = new Topic(floor)
      this.#topics.set(topic, ring)
      for (const event of events) this.#push(ring, event)
    }
  }

  append(events: readonly Event[]): void {
    for (const event of events) this.#add(event)
  }

  since(names: readonly string[], seq: number, most = Infinity): Missed {
    const oldest = Date.now() - this.#options.age
    let lostUpTo = 0
    const places: Place[] = []
    for (const name of names) {
      const topic = this.#topics.get(name)
      if (topic) this.#evict(topic, oldest)
      lostUpTo = Math.max(lostUpTo, topic?.floor ?? this.#floor)
      if (topic) places.push({ events: topic.events, at: firstAfter(topic, seq) })
    }
    return { events: merge(places, most), complete: seq >= lostUpTo, lostUpTo }
  }

  /** Topics that are not kept may have had events up to here. */
  get floor(): number {
    return this.#floor
  }

  current(topic: string): Event | undefined {
    return this.#topics.get(topic)?.newest
  }

  skip(seq: number): void {
    this.seq = Math.max(this.seq, seq)
  }

  kept(): Kept {
    const topics = Array.from(this.#topics, ([topic, { floor, events, head }]) => ({
      topic,
      floor,
      events: events.slice(head),
    }))
    return { epoch: this.epoch, seq: this.seq, floor: this.#floor, topics }
  }

  async close(): Promise<void> {}

  /** An event is kept no longer. */
  protected dropped(_event: Event): void {}

  #add(event: Event): void {
    this.skip(event.seq)
    const known = this.#topics.get(event.topic)
    const topic = known ?? new Topic(this.#floor)
    if (known) this.#topics.delete(event.topic)
    this.#topics.set(event.topic, topic)
    this.#push(topic, event)
    this.#evict(topic, event.at - this.#options.age)
    while (this.#topics.size > this.#options.topics || (this.#bytes > this.#options.total && this.#topics.size > 1)) {
      this.#forgetOldest()
    }
  }

  #push(topic: Topic, event: Event): void {
    const bytes = sizeOf(event)
    topic.events.push(event)
    topic.bytes += bytes
    this.#bytes += bytes
  }

  /** Drops what is over a topic's bounds, its newest event excepted. */
  #evict(topic: Topic, oldest: number): void {
    const { count, bytes } = this.#options
    while (topic.size > 1 && (topic.size > count || topic.bytes > bytes || topic.events[topic.head]!.at < oldest)) {
      this.#dropFirst(topic)
    }
    if (topic.head > COMPACT_AT && topic.head * 2 > topic.events.length) {
      topic.events = topic.events.slice(topic.head)
      topic.head = 0
    }
  }

  #dropFirst(topic: Topic): void {
    const event = topic.events[topic.head]!
    // Lets go of the value now rather than at the next cut.
    topic.events[topic.head++] = undefined as never
    topic.floor = event.seq
    topic.bytes -= sizeOf(event)
    this.#bytes -= sizeOf(event)
    this.dropped(event)
  }

  #forgetOldest(): void {
    const [name, topic] = this.#topics.entries().next().value!
    while (topic.size > 0) this.#dropFirst(topic)
    this.#floor = Math.max(this.#floor, topic.floor)
    this.#topics.delete(name)
  }
}

/** How far a topic's events have been read. */
interface Place {
  readonly events: readonly Event[]
  at: number
}

/** Where a topic's events after `seq` begin. */
function firstAfter({ events, head }: Topic, seq: number): number {
  let low = head
  let high = events.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (events[middle]!.seq > seq) high = middle
    else low = middle + 1
  }
  return low
}

// What an event takes besides its value, about (characters).
const LINES = 32

/** The first events of all, in order. */
function merge(places: readonly Place[], most: number): Event[] {
  const events: Event[] = []
  for (let size = 0; size < most;) {
    let next: Place | undefined
    for (const place of places) {
      const event = place.events[place.at]
      if (event && !(next && next.events[next.at]!.seq < event.seq)) next = place
    }
    if (!next) break
    const event = next.events[next.at++]!
    events.push(event)
    size += event.value.length + LINES
  }
  return events
}

export const createRingHistory = (options: RingOptions, kept?: Kept): History => new Ring(options, kept)
