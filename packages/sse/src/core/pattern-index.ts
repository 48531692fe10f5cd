import { ClientPatterns } from './client-patterns.ts'
import { LengthSet } from './patterns/length-set.ts'
import type { ParsedTopic } from './patterns/parsed-topic.ts'
import type { TopicMatcher } from './selectors.ts'
import { getSetSize, iterateSet, addToSet, removeFromMap, removeFromSet, type SmallSet } from './small-set.ts'

/** A pattern and its subscribers. */
interface PatternEntry<T extends object> {
  readonly pattern: TopicMatcher
  subscribers: SmallSet<T>
}

/** Finds the subscribers of a topic by the literal starts of their patterns. */
export class PatternIndex<T extends object> {
  /** Patterns by literal start. */
  readonly #entries = new Map<string, SmallSet<PatternEntry<T>>>()
  readonly #anchorLengths = new LengthSet()
  readonly #clients = new ClientPatterns()

  /** Number of different literal starts. */
  get size(): number {
    return this.#entries.size
  }

  /** False if the client then has too many patterns with the same literal start. */
  canAdd(patterns: readonly TopicMatcher[], client: string): boolean {
    return this.#clients.canAdd(patterns, client, (anchor) => getSetSize(this.#entries.get(anchor)))
  }

  /** Counts the pattern for a stream of a client. */
  countClient(pattern: TopicMatcher, client: string): void {
    this.#clients.add(pattern, client)
  }

  /** Reverts `countClient` when the stream ends. */
  discountClient(pattern: TopicMatcher, client: string): void {
    this.#clients.delete(pattern, client)
  }

  add(pattern: TopicMatcher, subscriber: T): void {
    const { anchor } = pattern
    const entries = this.#entries.get(anchor)
    const existing = findPattern(entries, pattern)
    if (existing) existing.subscribers = addToSet(existing.subscribers, subscriber)
    else this.#entries.set(anchor, addToSet(entries, { pattern, subscribers: subscriber }))
    if (!entries) this.#anchorLengths.add(anchor.length)
  }

  delete(pattern: TopicMatcher, subscriber: T): void {
    const { anchor } = pattern
    const existing = findPattern(this.#entries.get(anchor), pattern)
    if (!existing) return
    const remaining = removeFromSet(existing.subscribers, subscriber)
    if (remaining) existing.subscribers = remaining
    else if (!removeFromMap(this.#entries, anchor, existing)) this.#anchorLengths.delete(anchor.length)
  }

  /** Calls `onMatch` as `TopicIndex.find`. @param text the topic, in the form that begins with the literal starts */
  find(text: string, topic: ParsedTopic, onMatch: (subscriber: T) => void): void {
    for (const length of this.#anchorLengths.getUpTo(text.length)) {
      for (const { pattern, subscribers } of iterateSet(this.#entries.get(text.slice(0, length)))) {
        if (pattern.matches(topic)) for (const subscriber of iterateSet(subscribers)) onMatch(subscriber)
      }
    }
  }
}

function findPattern<T extends object>(
  entries: SmallSet<PatternEntry<T>> | undefined,
  { source }: TopicMatcher,
): PatternEntry<T> | undefined {
  for (const entry of iterateSet(entries)) if (entry.pattern.source === source) return entry
  return undefined
}
