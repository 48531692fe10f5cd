import type { Event } from '../core/event.ts'
import { createEpoch } from '../core/event-id.ts'
import { FULL_SCOPE, type ReadScope } from '../core/read-scope.ts'
import { isExact, isSelected, type Selectors } from '../core/selectors.ts'
import { getEventCost, getTopicCost } from './event-cost.ts'
import type { History, HistoryOptions, HistoryState, LostRange, MissedEvents } from './history.ts'
import { mergeEvents, type MergeCursor } from './merge-events.ts'
import { PublisherIds } from './publisher-ids.ts'
import { findFirstAfter, RingTopic } from './ring-topic.ts'

export type RingOptions = Omit<HistoryOptions, 'folder'>

/** Age of the newest event of an established topic above which a new topic may replace the topic (ms). */
const STALE_TOPIC_AGE_MS = 86_400_000

/**
 * Number of dropped events above which a topic's array may be compacted. A compaction copies the array, so it must be
 * rare.
 */
const MIN_COMPACT_EVENTS = 64

/**
 * History in memory. Count, bytes and age limit each topic; `topics` and `total` limit the whole history. Current
 * values are removed last. So the values of a busy publisher only replace values that are not current, and a publisher
 * to many new topics usually replaces only other new topics and topics that are stale.
 */
export class RingHistory implements History {
  readonly epoch: string
  seq: number
  readonly #options: RingOptions
  /**
   * Topics that were added while there was free capacity. A new topic replaces one of them only if it is stale, or if
   * there is no other newcomer. Both maps are in the order of the topics' last events, oldest first.
   */
  readonly #established = new Map<string, RingTopic>()
  /** The other topics. At the maximum number of topics they are a quarter, and a new topic replaces one of them. */
  readonly #newcomers = new Map<string, RingTopic>()
  /** Topics with more events than their current value, in the order of their last events, oldest first. */
  readonly #multiEventTopics = new Set<RingTopic>()
  /** Topics that are not stored may have had events up to this sequence number. */
  #floor: number
  readonly #lost: readonly LostRange[]
  /** Memory of all topics and events (bytes). */
  #bytes = 0
  /** Number of topics that store an event, for events with several topics. */
  readonly #holderCounts = new Map<Event, number>()
  readonly #publisherIds = new PublisherIds()
  /** Number of additions and removals of topics since the start. */
  #topicChanges = 0
  readonly #matchCache = new WeakMap<
    Selectors,
    { readonly topicChanges: number; readonly topics: readonly RingTopic[] }
  >()

  /** @param stored initial state */
  constructor(options: RingOptions, stored: HistoryState = { epoch: createEpoch(), seq: 0, floor: 0, topics: [] }) {
    this.#options = options
    this.epoch = stored.epoch
    this.seq = stored.seq
    this.#floor = stored.floor
    this.#lost = stored.lost ?? []
    for (const { topic: name, floor, events } of stored.topics) {
      const topic = this.#addTopic(new RingTopic(name, floor))
      for (const event of events) this.#push(topic, event.more?.alternates ? event : { ...event, topic: name })
    }
    this.#promoteTopics()
  }

  append(events: readonly Event[], seq = this.seq, onAppended?: () => void): void | Promise<void> {
    for (const event of events) this.#add(event)
    this.#advanceTo(seq)
    onAppended?.()
  }

  readSince(selectors: Selectors, seq: number, maxLength = Infinity, reader: ReadScope = FULL_SCOPE): MissedEvents {
    const oldest = Date.now() - this.#options.age
    const topics = this.#findMatching(selectors)
    const hasAllTopics = isExact(selectors) && topics.length === selectors.topics.length
    let lostUpTo = hasAllTopics ? 0 : this.#floor
    for (const { from, before } of this.#lost) if (from <= seq && seq < before) lostUpTo = Math.max(lostUpTo, before)
    const cursors: MergeCursor[] = []
    for (const topic of topics) {
      this.#evict(topic, oldest)
      lostUpTo = Math.max(lostUpTo, topic.floor)
      const at = findFirstAfter(topic, seq)
      if (at < topic.events.length) cursors.push({ events: topic.events, at })
    }
    return { events: mergeEvents(cursors, maxLength, reader), complete: seq >= lostUpTo, lostUpTo }
  }

  /** Topics that are not stored may have had events up to this sequence number. */
  get floor(): number {
    return this.#floor
  }

  getCurrent(topic: string): Event | undefined {
    return this.#find(topic)?.newest
  }

  getNames(selectors: Selectors): string[] {
    return this.#findMatching(selectors).map(({ name }) => name)
  }

  findById(id: string): number | undefined {
    return this.#publisherIds.find(id)
  }

  getState(): HistoryState {
    const topics = [...this.#established.values(), ...this.#newcomers.values()].map(
      ({ name, floor, events, head }) => ({
        topic: name,
        floor,
        events: events.slice(head),
      }),
    )
    return { epoch: this.epoch, seq: this.seq, floor: this.#floor, lost: this.#lost, topics }
  }

  async close(): Promise<void> {}

  /** Called when an event is no longer stored. */
  protected onDropped(_event: Event): void {}

  #advanceTo(seq: number): void {
    this.seq = Math.max(this.seq, seq)
  }

  #find(name: string): RingTopic | undefined {
    return this.#newcomers.get(name) ?? this.#established.get(name)
  }

  /** Returns the stored topics that match. Caches the result of selectors with prefixes or patterns. */
  #findMatching(selectors: Selectors): readonly RingTopic[] {
    if (isExact(selectors)) return selectors.topics.flatMap((name) => this.#find(name) ?? [])
    const known = this.#matchCache.get(selectors)
    if (known?.topicChanges === this.#topicChanges) return known.topics
    const all = [...this.#established.values(), ...this.#newcomers.values()]
    const topics = all.filter(({ name }) => isSelected(selectors, name))
    this.#matchCache.set(selectors, { topicChanges: this.#topicChanges, topics })
    return topics
  }

  #addTopic(topic: RingTopic): RingTopic {
    this.#topicChanges++
    this.#newcomers.set(topic.name, topic)
    this.#bytes += getTopicCost(topic.name)
    return topic
  }

  #add(event: Event): void {
    this.#advanceTo(event.seq)
    const topic = this.#touch(event.topic)
    // All events of a topic share one string with its name. An event from another thread comes with a copy of the name.
    const stored = { ...event, topic: topic.name }
    const topics = [topic]
    if (event.more?.alternates) topics.push(...event.more.alternates.map((name) => this.#touch(name)))
    for (const held of topics) {
      this.#push(held, stored)
      this.#evict(held, event.at - this.#options.age)
    }
    this.#evictExcess(topics, event.at)
    this.#promoteTopics()
  }

  /** Moves a topic to the end of its map, because it has a new event. Adds the topic if it is new. */
  #touch(name: string): RingTopic {
    const topic = this.#find(name) ?? this.#addTopic(new RingTopic(name, this.#floor))
    const topics = this.#established.has(topic.name) ? this.#established : this.#newcomers
    topics.delete(topic.name)
    topics.set(topic.name, topic)
    return topic
  }

  #push(topic: RingTopic, event: Event): void {
    const bytes = getEventCost(event)
    topic.events.push(event)
    topic.bytes += bytes
    this.#bytes += bytes
    if (event.more?.alternates) this.#holderCounts.set(event, (this.#holderCounts.get(event) ?? 0) + 1)
    this.#publisherIds.add(event)
    if (topic.size === 1) return
    this.#multiEventTopics.delete(topic)
    this.#multiEventTopics.add(topic)
  }

  /**
   * Removes events and then topics, until the whole history is within its limits.
   * @param latest topics of the event that was just added; they are not removed
   * @param now time of that event (ms since 1970)
   */
  #evictExcess(latest: readonly RingTopic[], now: number): void {
    const { topics, total } = this.#options
    for (const topic of this.#multiEventTopics) {
      while (this.#bytes > total && topic.size > 1) this.#dropFirst(topic)
      if (this.#bytes <= total) break
    }
    while (this.#established.size + this.#newcomers.size > topics || this.#bytes > total) {
      const candidate = this.#findEvictionCandidate(latest, now)
      if (!candidate) break
      this.#removeTopic(candidate)
    }
  }

  #findEvictionCandidate(latest: readonly RingTopic[], now: number): RingTopic | undefined {
    const [established] = this.#established.values()
    const [newcomer] = this.#newcomers.values()
    const isStale = established && established.newest.at < now - STALE_TOPIC_AGE_MS
    return [isStale ? established : newcomer, newcomer, established].find((topic) => topic && !latest.includes(topic))
  }

  /** Makes newcomers established while there is free capacity. A quarter of the topics is reserved for newcomers. */
  #promoteTopics(): void {
    const { topics } = this.#options
    const reserved = Math.max(1, topics >> 2)
    while (this.#newcomers.size > reserved && this.#established.size < topics - reserved) {
      const [topic] = this.#newcomers.values()
      this.#newcomers.delete(topic!.name)
      this.#established.set(topic!.name, topic!)
    }
  }

  /** Drops the oldest events beyond a topic's limits, except its newest. @param oldest minimum time (ms since 1970) */
  #evict(topic: RingTopic, oldest: number): void {
    const { count, bytes } = this.#options
    while (topic.size > 1 && (topic.size > count || topic.bytes > bytes || topic.events[topic.head]!.at < oldest)) {
      this.#dropFirst(topic)
    }
    if (topic.head > MIN_COMPACT_EVENTS && topic.head * 2 > topic.events.length) {
      topic.events = topic.events.slice(topic.head)
      topic.head = 0
    }
  }

  #dropFirst(topic: RingTopic): void {
    const event = topic.events[topic.head]!
    // Releases the value now rather than at the next compaction.
    topic.events[topic.head++] = undefined as never
    topic.floor = event.seq
    const bytes = getEventCost(event)
    topic.bytes -= bytes
    this.#bytes -= bytes
    if (topic.size <= 1) this.#multiEventTopics.delete(topic)
    if (event.more?.alternates && this.#hasOtherHolders(event)) return
    this.#publisherIds.delete(event)
    this.onDropped(event)
  }

  /** Counts one topic less that stores an event. Returns true if other topics still store it. */
  #hasOtherHolders(event: Event): boolean {
    const remaining = (this.#holderCounts.get(event) ?? 1) - 1
    if (remaining > 0) this.#holderCounts.set(event, remaining)
    else this.#holderCounts.delete(event)
    return remaining > 0
  }

  #removeTopic(topic: RingTopic): void {
    while (topic.size > 0) this.#dropFirst(topic)
    this.#floor = Math.max(this.#floor, topic.floor)
    this.#topicChanges++
    this.#bytes -= getTopicCost(topic.name)
    this.#established.delete(topic.name)
    this.#newcomers.delete(topic.name)
  }
}

export const createRingHistory = (options: RingOptions, state?: HistoryState): History =>
  new RingHistory(options, state)
