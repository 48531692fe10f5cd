import { countOf, eachOf, withOne, withoutOne, type Few } from './few.ts'
import type { Selectors } from './selectors.ts'
import type { TopicPattern } from './topic-pattern.ts'
import { readTopicUrl, textOf } from './topic-url.ts'

/** Most different patterns with the same literal beginning: an event to a topic that begins so is compared to each. */
const MOST_ALIKE = 128

/** Those who want what a pattern matches. */
interface Wanted<T extends object> {
  readonly pattern: TopicPattern
  by: Few<T>
}

/** Finds who selects a topic by what it begins with: nobody else is looked at, nor is any other topic. */
export class TopicIndex<T extends object> {
  readonly #exact = new Map<string, Few<T>>()
  readonly #prefixes = new Map<string, Few<T>>()
  readonly #prefixLengths = new Lengths()
  /** By how they begin. */
  readonly #patterns = new Map<string, Few<Wanted<T>>>()
  readonly #anchorLengths = new Lengths()

  /** Whether these may be added: not where there are too many patterns alike. */
  hasRoom({ patterns }: Selectors): boolean {
    return patterns.every((pattern) => {
      const alike = this.#patterns.get(pattern.anchor)
      return countOf(alike) < MOST_ALIKE || findSource(alike, pattern) !== undefined
    })
  }

  add({ topics, prefixes, patterns }: Selectors, one: T): void {
    for (const topic of topics) this.#exact.set(topic, withOne(this.#exact.get(topic), one))
    for (const prefix of prefixes) {
      if (!this.#prefixes.has(prefix)) this.#prefixLengths.add(prefix.length)
      this.#prefixes.set(prefix, withOne(this.#prefixes.get(prefix), one))
    }
    for (const pattern of patterns) this.#addPattern(pattern, one)
  }

  delete({ topics, prefixes, patterns }: Selectors, one: T): void {
    for (const topic of topics) without(this.#exact, topic, one)
    for (const prefix of prefixes) {
      if (!without(this.#prefixes, prefix, one)) this.#prefixLengths.delete(prefix.length)
    }
    for (const pattern of patterns) this.#deletePattern(pattern, one)
  }

  /** Calls with each who selects a topic; with one who does so in several ways, each time. */
  find(topic: string, found: (one: T) => void): void {
    for (const one of eachOf(this.#exact.get(topic))) found(one)
    if (this.#prefixes.size > 0) this.#findByPrefix(topic, found)
    if (this.#patterns.size > 0) this.#findByPattern(topic, found)
  }

  #findByPrefix(topic: string, found: (one: T) => void): void {
    for (const length of this.#prefixLengths.upTo(topic.length)) {
      for (const one of eachOf(this.#prefixes.get(topic.slice(0, length)))) found(one)
    }
  }

  #findByPattern(topic: string, found: (one: T) => void): void {
    const url = readTopicUrl(topic)
    if (!url) return
    const text = textOf(url)
    for (const length of this.#anchorLengths.upTo(text.length)) {
      for (const { pattern, by } of eachOf(this.#patterns.get(text.slice(0, length)))) {
        if (pattern.matches(url)) for (const one of eachOf(by)) found(one)
      }
    }
  }

  #addPattern(pattern: TopicPattern, one: T): void {
    const { anchor } = pattern
    const alike = this.#patterns.get(anchor)
    const known = findSource(alike, pattern)
    if (known) known.by = withOne(known.by, one)
    else this.#patterns.set(anchor, withOne(alike, { pattern, by: one }))
    if (!alike) this.#anchorLengths.add(anchor.length)
  }

  #deletePattern(pattern: TopicPattern, one: T): void {
    const { anchor } = pattern
    const known = findSource(this.#patterns.get(anchor), pattern)
    if (!known) return
    const left = withoutOne(known.by, one)
    if (left) known.by = left
    else if (!without(this.#patterns, anchor, known)) this.#anchorLengths.delete(anchor.length)
  }
}

function findSource<T extends object>(
  alike: Few<Wanted<T>> | undefined,
  { source }: TopicPattern,
): Wanted<T> | undefined {
  for (const wanted of eachOf(alike)) if (wanted.pattern.source === source) return wanted
  return undefined
}

/** Returns whether any are left. */
function without<T extends object>(map: Map<string, Few<T>>, key: string, one: T): boolean {
  const left = withoutOne(map.get(key), one)
  if (left) map.set(key, left)
  else map.delete(key)
  return left !== undefined
}

/** Which lengths there are, and how often. */
class Lengths {
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

  upTo(most: number): readonly number[] {
    const end = this.#sorted.findIndex((length) => length > most)
    return end < 0 ? this.#sorted : this.#sorted.slice(0, end)
  }

  #sort(): void {
    this.#sorted = [...this.#counts.keys()].sort((a, b) => a - b)
  }
}
