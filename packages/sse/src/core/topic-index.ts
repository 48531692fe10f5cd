import { getSetSize, iterateSet, addToSet, removeFromSet, type SmallSet } from './small-set.ts'
import type { Selectors } from './selectors.ts'
import type { TopicPattern } from './topic-pattern.ts'
import { parseTopicUrl, formatTopicUrl } from './topic-url.ts'

/**
 * Maximum number of different patterns with the same literal start. Every topic with this start is tested against each.
 */
const MAX_PATTERNS_PER_ANCHOR = 128

/** A pattern and its subscribers. */
interface PatternEntry<T extends object> {
  readonly pattern: TopicPattern
  subscribers: SmallSet<T>
}

/**
 * Finds the subscribers of a topic: by its name, by its prefixes, and by the literal starts of patterns. It visits no
 * subscriber whose names, prefixes and literal starts all differ from those of the topic.
 */
export class TopicIndex<T extends object> {
  readonly #exact = new Map<string, SmallSet<T>>()
  readonly #prefixes = new Map<string, SmallSet<T>>()
  readonly #prefixLengths = new LengthSet()
  /** Patterns by literal start. */
  readonly #patterns = new Map<string, SmallSet<PatternEntry<T>>>()
  readonly #anchorLengths = new LengthSet()

  /** False if a pattern of these selectors is new and too many other patterns have its literal start. */
  canAdd({ patterns }: Selectors): boolean {
    return patterns.every((pattern) => {
      const entries = this.#patterns.get(pattern.anchor)
      return getSetSize(entries) < MAX_PATTERNS_PER_ANCHOR || findPattern(entries, pattern) !== undefined
    })
  }

  add({ topics, prefixes, patterns }: Selectors, subscriber: T): void {
    for (const topic of topics) this.#exact.set(topic, addToSet(this.#exact.get(topic), subscriber))
    for (const prefix of prefixes) {
      if (!this.#prefixes.has(prefix)) this.#prefixLengths.add(prefix.length)
      this.#prefixes.set(prefix, addToSet(this.#prefixes.get(prefix), subscriber))
    }
    for (const pattern of patterns) this.#addPattern(pattern, subscriber)
  }

  delete({ topics, prefixes, patterns }: Selectors, subscriber: T): void {
    for (const topic of topics) removeFromMap(this.#exact, topic, subscriber)
    for (const prefix of prefixes) {
      if (!removeFromMap(this.#prefixes, prefix, subscriber)) this.#prefixLengths.delete(prefix.length)
    }
    for (const pattern of patterns) this.#deletePattern(pattern, subscriber)
  }

  /** Calls `onMatch` with each subscriber of a topic; once per matching selector of that subscriber. */
  find(topic: string, onMatch: (subscriber: T) => void): void {
    for (const subscriber of iterateSet(this.#exact.get(topic))) onMatch(subscriber)
    if (this.#prefixes.size > 0) this.#findByPrefix(topic, onMatch)
    if (this.#patterns.size > 0) this.#findByPattern(topic, onMatch)
  }

  #findByPrefix(topic: string, onMatch: (subscriber: T) => void): void {
    for (const length of this.#prefixLengths.getUpTo(topic.length)) {
      for (const subscriber of iterateSet(this.#prefixes.get(topic.slice(0, length)))) onMatch(subscriber)
    }
  }

  #findByPattern(topic: string, onMatch: (subscriber: T) => void): void {
    const url = parseTopicUrl(topic)
    if (!url) return
    const text = formatTopicUrl(url)
    for (const length of this.#anchorLengths.getUpTo(text.length)) {
      for (const { pattern, subscribers } of iterateSet(this.#patterns.get(text.slice(0, length)))) {
        if (pattern.test(url)) for (const subscriber of iterateSet(subscribers)) onMatch(subscriber)
      }
    }
  }

  #addPattern(pattern: TopicPattern, subscriber: T): void {
    const { anchor } = pattern
    const entries = this.#patterns.get(anchor)
    const existing = findPattern(entries, pattern)
    if (existing) existing.subscribers = addToSet(existing.subscribers, subscriber)
    else this.#patterns.set(anchor, addToSet(entries, { pattern, subscribers: subscriber }))
    if (!entries) this.#anchorLengths.add(anchor.length)
  }

  #deletePattern(pattern: TopicPattern, subscriber: T): void {
    const { anchor } = pattern
    const existing = findPattern(this.#patterns.get(anchor), pattern)
    if (!existing) return
    const remaining = removeFromSet(existing.subscribers, subscriber)
    if (remaining) existing.subscribers = remaining
    else if (!removeFromMap(this.#patterns, anchor, existing)) this.#anchorLengths.delete(anchor.length)
  }
}

function findPattern<T extends object>(
  entries: SmallSet<PatternEntry<T>> | undefined,
  { source }: TopicPattern,
): PatternEntry<T> | undefined {
  for (const entry of iterateSet(entries)) if (entry.pattern.source === source) return entry
  return undefined
}

/** Removes an item of a set in a map. Returns true if the set has other items. */
function removeFromMap<T extends object>(map: Map<string, SmallSet<T>>, key: string, item: T): boolean {
  const remaining = removeFromSet(map.get(key), item)
  if (remaining) map.set(key, remaining)
  else map.delete(key)
  return remaining !== undefined
}

/** Distinct lengths of texts. A length stays until it was deleted as often as it was added. */
class LengthSet {
  readonly #counts = new Map<number, number>()
  #sorted: number[] = []

  add(length: number): void {
    const count = this.#counts.get(length) ?? 0
    this.#counts.set(length, count + 1)
    if (count === 0) this.#sort()
  }

  delete(length: number): void {
    const count = this.#counts.get(length)!
    if (count > 1) return void this.#counts.set(length, count - 1)
    this.#counts.delete(length)
    this.#sort()
  }

  /** Returns the lengths up to `max`, in ascending order. */
  getUpTo(max: number): readonly number[] {
    const end = this.#sorted.findIndex((length) => length > max)
    return end < 0 ? this.#sorted : this.#sorted.slice(0, end)
  }

  #sort(): void {
    this.#sorted = [...this.#counts.keys()].sort((a, b) => a - b)
  }
}
