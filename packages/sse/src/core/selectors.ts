import { ParsedTopic } from './patterns/parsed-topic.ts'
import type { TopicPattern } from './patterns/topic-pattern.ts'
import type { TopicTemplate } from './patterns/topic-template.ts'

/** A pattern of topics: a URL pattern, or a URI template. */
export type TopicMatcher = TopicPattern | TopicTemplate

/** Selection of topics: the topics that a stream subscribes to, or that a token allows. */
export interface Selectors {
  /** Selects the topics with these names. */
  readonly topics: readonly string[]
  /** Selects all topics that begin with one of these prefixes; an empty prefix selects every topic. */
  readonly prefixes: readonly string[]
  /** Selects all topics that match one of these patterns. */
  readonly patterns: readonly TopicMatcher[]
}

/** Matcher that selects every topic. */
export const ALL_TOPICS = '*'

const EMPTY_LIST: readonly never[] = []

const removeDuplicates = (texts: readonly string[]): readonly string[] =>
  texts.length < 2 ? texts : [...new Set(texts)]

/** Creates selectors and removes duplicates. */
export function createSelectors(
  topics: readonly string[],
  prefixes: readonly string[] = EMPTY_LIST,
  patterns: readonly TopicMatcher[] = EMPTY_LIST,
): Selectors {
  const bySource = patterns.length < 2 ? undefined : new Map(patterns.map((pattern) => [pattern.source, pattern]))
  return {
    topics: removeDuplicates(topics),
    prefixes: removeDuplicates(prefixes),
    patterns: bySource ? [...bySource.values()] : patterns,
  }
}

/**
 * Copies the names and prefixes of selectors. The originals may be substrings of the request, and a substring retains
 * the whole request in memory.
 */
export function copySelectors({ topics, prefixes, patterns }: Selectors): Selectors {
  const [topicsCopy, prefixesCopy] = JSON.parse(JSON.stringify([topics, prefixes])) as [string[], string[]]
  return {
    topics: topics.length === 0 ? EMPTY_LIST : topicsCopy,
    prefixes: prefixes.length === 0 ? EMPTY_LIST : prefixesCopy,
    patterns,
  }
}

/** Returns a key that is equal only for equal selectors, regardless of their order. */
export function toSelectorsKey(selectors: Selectors): string {
  const { topics, prefixes, patterns } = selectors
  if (topics.length === 1 && isExact(selectors)) return `=${topics[0]}`
  return JSON.stringify([topics.toSorted(), prefixes.toSorted(), patterns.map(({ source }) => source).sort()])
}

/** Returns the names under which streams are counted: topics, and prefixes with a `*`. Patterns are not counted. */
export const getSelectorNames = ({ topics, prefixes }: Selectors): readonly string[] =>
  prefixes.length === 0 ? topics : [...topics, ...prefixes.map((prefix) => `${prefix}*`)]

/** True if the selectors have only topic names. */
export const isExact = ({ prefixes, patterns }: Selectors): boolean => prefixes.length === 0 && patterns.length === 0

/** True if the selectors select a topic. */
export function isSelected({ topics, prefixes, patterns }: Selectors, topic: string): boolean {
  if (topics.includes(topic) || prefixes.some((prefix) => topic.startsWith(prefix))) return true
  if (patterns.length === 0) return false
  const parsed = new ParsedTopic(topic)
  return patterns.some((pattern) => pattern.matches(parsed))
}
