import type { Event } from '../core/event.ts'
import { newEpoch } from '../core/event-id.ts'
import { FULL_READER, type Reader } from '../core/reader.ts'
import { areExact, selects, type Selectors } from '../core/selectors.ts'
import { costOf, topicCostOf } from './cost.ts'
import type { History, HistoryOptions, Kept, LostRange, Missed } from './history.ts'
import { merge, type Place } from './merge.ts'

export type RingOptions = Omit<HistoryOptions, 'folder'>

/** The events of one topic, oldest first. */
class Topic {
  readonly name: string
  floor: number
  bytes = 0
  /** Those before `head` are no longer kept. */
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

/** A topic that nobody has put to for so long has no claim to its place (ms). */
const STALE_AFTER = 86_400_000

/** Cutting the front off an array costs its length: done rarely, it costs nothing an event. */
const COMPACT_AT = 64

/**
 * In memory, bounded for each topic by count, bytes and age, and in all by topics and bytes. Current values go last: who
 * puts much takes the room of what is not current any more, and who puts to many topics that of other new topics.
 */
export class Ring implements History {
  readonly epoch: string
  seq: number
  readonly #options: RingOptions
  /** Those that came when there was room: they stay. Both in the order in which they were last put to. */
  readonly #settled = new Map<string, Topic>()
  /** The others, a quarter of all at most: each new one takes the place of one of these. */
  readonly #newcomers = new Map<string, Topic>()
  /** Those with more than their current value, in the same order. */
  readonly #deep = new Set<Topic>()
  #floor: number
  readonly #lost: readonly LostRange[]
  #bytes = 0
  /** In how many topics events are that were put to several. */
  readonly #holders = new Map<Event, number>()
  /** Counts how often topics came and went. */
  #changes = 0
  readonly #found = new WeakMap<Selectors, { readonly changes: number; readonly topics: readonly Topic[] }>()

  /** @param kept what it begins with */
  constructor(options: RingOptions, kept: Kept = { epoch: newEpoch(), seq: 0, floor: 0, topics: [] }) {
    this.#options = options
    this.epoch = kept.epoch
    this.seq = kept.seq
    this.#floor = kept.floor
    this.#lost = kept.lost ?? []
    for (const { topic: name, floor, events } of kept.topics) {
      const topic = this.#enter(new Topic(name, floor))
      for (const event of events) this.#push(topic, event.more?.alternates ? event : { ...event, topic: name })
    }
    this.#settle()
  }

  append(events: readonly Event[], seq = this.seq, onKept?: () => void): void | Promise<void> {
    for (const event of events) this.#add(event)
    this.#reach(seq)
    onKept?.()
  }

  since(selectors: Selectors, seq: number, most = Infinity, reader: Reader = FULL_READER): Missed {
    const oldest = Date.now() - this.#options.age
    const topics = this.#matching(selectors)
    const areAllKnown = areExact(selectors) && topics.length === selectors.topics.length
    let lostUpTo = areAllKnown ? 0 : this.#floor
    for (const { from, before } of this.#lost) if (from <= seq && seq < before) lostUpTo = Math.max(lostUpTo, before)
    const places: Place[] = []
    for (const topic of topics) {
      this.#evict(topic, oldest)
      lostUpTo = Math.max(lostUpTo, topic.floor)
      const at = firstAfter(topic, seq)
      if (at < topic.events.length) places.push({ events: topic.events, at })
    }
    return { events: merge(places, most, reader), complete: seq >= lostUpTo, lostUpTo }
  }

  /** Topics that are not kept may have had events up to here. */
  get floor(): number {
    return this.#floor
  }

  current(topic: string): Event | undefined {
    return this.#find(topic)?.newest
  }

  names(selectors: Selectors): string[] {
    return this.#matching(selectors).map(({ name }) => name)
  }

  kept(): Kept {
    const topics = [...this.#settled.values(), ...this.#newcomers.values()].map(({ name, floor, events, head }) => ({
      topic: name,
      floor,
      events: events.slice(head),
    }))
    return { epoch: this.epoch, seq: this.seq, floor: this.#floor, lost: this.#lost, topics }
  }

  async close(): Promise<void> {}

  /** An event is kept no longer. */
  protected dropped(_event: Event): void {}

  #reach(seq: number): void {
    this.seq = Math.max(this.seq, seq)
  }

  #find(name: string): Topic | undefined {
    return this.#newcomers.get(name) ?? this.#settled.get(name)
  }

  /** The topics that are kept of those. Of selectors that do not name theirs they are looked for once. */
  #matching(selectors: Selectors): readonly Topic[] {
    if (areExact(selectors)) return selectors.topics.flatMap((name) => this.#find(name) ?? [])
    const known = this.#found.get(selectors)
    if (known?.changes === this.#changes) return known.topics
    const all = [...this.#settled.values(), ...this.#newcomers.values()]
    const topics = all.filter(({ name }) => selects(selectors, name))
    this.#found.set(selectors, { changes: this.#changes, topics })
    return topics
  }

  #enter(topic: Topic): Topic {
    this.#changes++
    this.#newcomers.set(topic.name, topic)
    this.#bytes += topicCostOf(topic.name)
    return topic
  }

  #add(event: Event): void {
    this.#reach(event.seq)
    const topic = this.#touch(event.topic)
    // What comes from another thread brings the topic's name along each time.
    const kept = { ...event, topic: topic.name }
    const topics = [topic]
    if (event.more?.alternates) topics.push(...event.more.alternates.map((name) => this.#touch(name)))
    for (const one of topics) {
      this.#push(one, kept)
      this.#evict(one, event.at - this.#options.age)
    }
    this.#makeRoom(topics, event.at)
    this.#settle()
  }

  /** A topic that is put to, now the latest of all. */
  #touch(name: string): Topic {
    const topic = this.#find(name) ?? this.#enter(new Topic(name, this.#floor))
    const home = this.#settled.has(topic.name) ? this.#settled : this.#newcomers
    home.delete(topic.name)
    home.set(topic.name, topic)
    return topic
  }

  #push(topic: Topic, event: Event): void {
    const bytes = costOf(event)
    topic.events.push(event)
    topic.bytes += bytes
    this.#bytes += bytes
    if (event.more?.alternates) this.#holders.set(event, (this.#holders.get(event) ?? 0) + 1)
    if (topic.size === 1) return
    this.#deep.delete(topic)
    this.#deep.add(topic)
  }

  /** @param latest the topics that were put to, at `now` */
  #makeRoom(latest: readonly Topic[], now: number): void {
    const { topics, total } = this.#options
    for (const topic of this.#deep) {
      while (this.#bytes > total && topic.size > 1) this.#dropFirst(topic)
      if (this.#bytes <= total) break
    }
    while (this.#settled.size + this.#newcomers.size > topics || this.#bytes > total) {
      const least = this.#leastNeeded(latest, now)
      if (!least) break
      this.#forget(least)
    }
  }

  #leastNeeded(latest: readonly Topic[], now: number): Topic | undefined {
    const [settled] = this.#settled.values()
    const [newcomer] = this.#newcomers.values()
    const isStale = settled && settled.newest.at < now - STALE_AFTER
    return [isStale ? settled : newcomer, newcomer, settled].find((topic) => topic && !latest.includes(topic))
  }

  /** Newcomers stay where there is room. */
  #settle(): void {
    const { topics } = this.#options
    const most = Math.max(1, topics >> 2)
    while (this.#newcomers.size > most && this.#settled.size < topics - most) {
      const [topic] = this.#newcomers.values()
      this.#newcomers.delete(topic!.name)
      this.#settled.set(topic!.name, topic!)
    }
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
    const bytes = costOf(event)
    topic.bytes -= bytes
    this.#bytes -= bytes
    if (topic.size <= 1) this.#deep.delete(topic)
    if (event.more?.alternates && this.#isHeldElsewhere(event)) return
    this.dropped(event)
  }

  /** Whether an event that one topic lets go of is still one of another's. */
  #isHeldElsewhere(event: Event): boolean {
    const left = (this.#holders.get(event) ?? 1) - 1
    if (left > 0) this.#holders.set(event, left)
    else this.#holders.delete(event)
    return left > 0
  }

  #forget(topic: Topic): void {
    while (topic.size > 0) this.#dropFirst(topic)
    this.#floor = Math.max(this.#floor, topic.floor)
    this.#changes++
    this.#bytes -= topicCostOf(topic.name)
    this.#settled.delete(topic.name)
    this.#newcomers.delete(topic.name)
  }
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

export const createRingHistory = (options: RingOptions, kept?: Kept): History => new Ring(options, kept)
