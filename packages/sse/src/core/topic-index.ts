import { LengthSet } from './patterns/length-set.ts'
import { ParsedTopic } from './patterns/parsed-topic.ts'
import { PatternIndex } from './pattern-index.ts'
import { iterateSet, addToSet, removeFromMap, type SmallSet } from './small-set.ts'
import type { Selectors, TopicMatcher } from './selectors.ts'
import { TopicPattern } from './patterns/topic-pattern.ts'
import { formatTopicUrl } from './patterns/topic-url.ts'

/**
 * Finds the subscribers of a topic: by its name, by its prefixes, and by the literal starts of patterns. It visits no
 * subscriber whose names, prefixes and literal starts all differ from those of the topic.
 */
export class TopicIndex<T extends object> {
  readonly #exact = new Map<string, SmallSet<T>>()
  readonly #prefixes = new Map<string, SmallSet<T>>()
  readonly #prefixLengths = new LengthSet()
  readonly #patterns = new PatternIndex<T>()
  readonly #templates = new PatternIndex<T>()
  /** The hub's URL, against which relative topics are resolved. */
  #base = ''

  /** False if the client then has too many patterns with the same literal start. */
  canAdd({ patterns }: Selectors, client: string): boolean {
    if (patterns.length === 0) return true
    return [this.#patterns, this.#templates].every((index) =>
      index.canAdd(
        patterns.filter((pattern) => this.#getIndex(pattern) === index),
        client,
      ),
    )
  }

  /** Counts the patterns for a stream of a client, for `canAdd`. */
  countClient({ patterns }: Selectors, client: string): void {
    for (const pattern of patterns) this.#getIndex(pattern).countClient(pattern, client)
  }

  /** Reverts `countClient` when the stream ends. */
  discountClient({ patterns }: Selectors, client: string): void {
    for (const pattern of patterns) this.#getIndex(pattern).discountClient(pattern, client)
  }

  add({ topics, prefixes, patterns }: Selectors, subscriber: T): void {
    for (const topic of topics) this.#exact.set(topic, addToSet(this.#exact.get(topic), subscriber))
    for (const prefix of prefixes) {
      if (!this.#prefixes.has(prefix)) this.#prefixLengths.add(prefix.length)
      this.#prefixes.set(prefix, addToSet(this.#prefixes.get(prefix), subscriber))
    }
    for (const pattern of patterns) {
      this.#getIndex(pattern).add(pattern, subscriber)
      if (pattern instanceof TopicPattern) this.#base = pattern.base
    }
  }

  delete({ topics, prefixes, patterns }: Selectors, subscriber: T): void {
    for (const topic of topics) removeFromMap(this.#exact, topic, subscriber)
    for (const prefix of prefixes) {
      if (!removeFromMap(this.#prefixes, prefix, subscriber)) this.#prefixLengths.delete(prefix.length)
    }
    for (const pattern of patterns) this.#getIndex(pattern).delete(pattern, subscriber)
  }

  /** Calls `onMatch` with each subscriber of a topic; once per matching selector of that subscriber. */
  find(topic: string, onMatch: (subscriber: T) => void): void {
    for (const subscriber of iterateSet(this.#exact.get(topic))) onMatch(subscriber)
    if (this.#prefixes.size > 0) this.#findByPrefix(topic, onMatch)
    if (this.#patterns.size + this.#templates.size > 0) this.#findByPattern(new ParsedTopic(topic), onMatch)
  }

  #findByPrefix(topic: string, onMatch: (subscriber: T) => void): void {
    for (const length of this.#prefixLengths.getUpTo(topic.length)) {
      for (const subscriber of iterateSet(this.#prefixes.get(topic.slice(0, length)))) onMatch(subscriber)
    }
  }

  #findByPattern(topic: ParsedTopic, onMatch: (subscriber: T) => void): void {
    if (this.#templates.size > 0) this.#templates.find(topic.text, topic, onMatch)
    if (this.#patterns.size === 0) return
    const url = topic.getUrl(this.#base)
    if (url) this.#patterns.find(formatTopicUrl(url), topic, onMatch)
  }

  #getIndex(pattern: TopicMatcher): PatternIndex<T> {
    return pattern instanceof TopicPattern ? this.#patterns : this.#templates
  }
}
