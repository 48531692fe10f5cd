import { ClientPatterns, countSources } from './client-patterns.ts'
import { LengthSet } from './patterns/length-set.ts'
import type { ParsedTopic } from './patterns/parsed-topic.ts'
import { MAX_STEPS } from './patterns/pattern-program.ts'
import type { TopicMatcher } from './selectors.ts'
import { iterateSet, addToSet, removeFromSet, type SmallSet } from './small-set.ts'

/** Maximum number of different patterns of all clients with the same literal start. */
const MAX_PATTERNS = 2_048
/**
 * Maximum number of steps in which a component of a topic is tested against all patterns with one literal start; about
 * 50 ms. Each pattern gets an equal share, at least 1,024 steps. Ordinary tests need 4 to 10 per character.
 */
const MAX_STEPS_OF_ALL = 128 * MAX_STEPS

/** A pattern and its subscribers. */
interface PatternEntry<T extends object> {
  readonly pattern: TopicMatcher
  subscribers: SmallSet<T>
}

/** Patterns with the same literal start: one, or several by source. A single pattern needs no `Map`. */
type PatternEntries<T extends object> = PatternEntry<T> | Map<string, PatternEntry<T>>

/** Finds the subscribers of a topic by the literal starts of their patterns. */
export class PatternIndex<T extends object> {
  /** Patterns by literal start. */
  readonly #entries = new Map<string, PatternEntries<T>>()
  readonly #anchorLengths = new LengthSet()
  readonly #clients = new ClientPatterns()

  /** Number of different literal starts. */
  get size(): number {
    return this.#entries.size
  }

  /** False if the client, or all clients together, then have too many patterns with the same literal start. */
  canAdd(patterns: readonly TopicMatcher[], client: string): boolean {
    const countAll = (anchor: string) => getSize(this.#entries.get(anchor))
    // `anchor` is calculated at each access.
    const keys = patterns.map(({ anchor, source }) => ({ anchor, source }))
    if (!this.#clients.canAdd(keys, client, countAll)) return false
    const added = keys.filter(({ anchor, source }) => !findPattern(this.#entries.get(anchor), source))
    return Array.from(countSources(added)).every(([anchor, count]) => countAll(anchor) + count <= MAX_PATTERNS)
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
    const existing = findPattern(entries, pattern.source)
    if (existing) existing.subscribers = addToSet(existing.subscribers, subscriber)
    else this.#entries.set(anchor, addPattern(entries, { pattern, subscribers: subscriber }))
    if (!entries) this.#anchorLengths.add(anchor.length)
  }

  delete(pattern: TopicMatcher, subscriber: T): void {
    const { anchor, source } = pattern
    const entries = this.#entries.get(anchor)
    const existing = findPattern(entries, source)
    if (!existing) return
    const remaining = removeFromSet(existing.subscribers, subscriber)
    if (remaining) existing.subscribers = remaining
    else if (entries instanceof Map && entries.size > 1) entries.delete(source)
    else {
      this.#entries.delete(anchor)
      this.#anchorLengths.delete(anchor.length)
    }
  }

  /** Calls `onMatch` as `TopicIndex.find`. @param text the topic, in the form that begins with the literal starts */
  find(text: string, topic: ParsedTopic, onMatch: (subscriber: T) => void): void {
    for (const length of this.#anchorLengths.getUpTo(text.length)) {
      const entries = this.#entries.get(text.slice(0, length))
      if (!entries) continue
      const maxSteps = Math.min(MAX_STEPS, Math.floor(MAX_STEPS_OF_ALL / getSize(entries)))
      for (const { pattern, subscribers } of iterateEntries(entries)) {
        if (pattern.matches(topic, maxSteps)) for (const subscriber of iterateSet(subscribers)) onMatch(subscriber)
      }
    }
  }
}

const getSize = (entries: PatternEntries<object> | undefined): number =>
  entries instanceof Map ? entries.size : entries ? 1 : 0

const iterateEntries = <T extends object>(entries: PatternEntries<T>): Iterable<PatternEntry<T>> =>
  entries instanceof Map ? entries.values() : [entries]

function findPattern<T extends object>(
  entries: PatternEntries<T> | undefined,
  source: string,
): PatternEntry<T> | undefined {
  if (entries instanceof Map) return entries.get(source)
  return entries?.pattern.source === source ? entries : undefined
}

/** Returns the patterns with one more. May change `entries`. */
function addPattern<T extends object>(
  entries: PatternEntries<T> | undefined,
  added: PatternEntry<T>,
): PatternEntries<T> {
  if (!entries) return added
  const bySource = entries instanceof Map ? entries : new Map([[entries.pattern.source, entries]])
  return bySource.set(added.pattern.source, added)
}
