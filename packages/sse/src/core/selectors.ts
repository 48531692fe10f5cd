import type { TopicPattern } from './topic-pattern.ts'
import { parseTopicUrl } from './topic-url.ts'

/** Selection of topics: those that a stream subscribes to, or that a token allows. */
export interface Selectors {
  readonly topics: readonly string[]
  /** Selects all topics that begin with one of these prefixes; an empty prefix selects every topic. */
  readonly prefixes: readonly string[]
  readonly patterns: readonly TopicPattern[]
}

/** Matcher of every topic. */
export const ALL_TOPICS = '*'

const EMPTY_LIST: readonly never[] = []

const removeDuplicates = (texts: readonly string[]): readonly string[] =>
  texts.length < 2 ? texts : [...new Set(texts)]

/** Creates selectors without duplicates. */
export function createSelectors(
  topics: readonly string[],
  prefixes: readonly string[] = EMPTY_LIST,
  patterns: readonly TopicPattern[] = EMPTY_LIST,
): Selectors {
  const bySource = patterns.length < 2 ? undefined : new Map(patterns.map((pattern) => [pattern.source, pattern]))
  return {
    topics: removeDuplicates(topics),
    prefixes: removeDuplicates(prefixes),
    patterns: bySource ? [...bySource.values()] : patterns,
  }
}

/**
 * Copies selectors so that they share no text with the request: a substring would retain the whole request in memory.
 */
export function copySelectors({ topics, prefixes, patterns }: Selectors): Selectors {
  const [topicsCopy, prefixesCopy] = JSON.parse(JSON.stringify([topics, prefixes])) as [string[], string[]]
  return {
    topics: topics.length === 0 ? EMPTY_LIST : topicsCopy,
    prefixes: prefixes.length === 0 ? EMPTY_LIST : prefixesCopy,
    patterns,
  }
}

/** Returns a key that is equal for equal selectors in any order, and different for all others. */
export function toSelectorsKey(selectors: Selectors): string {
  const { topics, prefixes, patterns } = selectors
  if (topics.length === 1 && isExact(selectors)) return `=${topics[0]}`
  return JSON.stringify([topics.toSorted(), prefixes.toSorted(), patterns.map(({ source }) => source).sort()])
}

/** Names of the selectors in stream counts. Patterns have no name, because any client can create new ones. */
export const getSelectorNames = ({ topics, prefixes }: Selectors): readonly string[] =>
  prefixes.length === 0 ? topics : [...topics, ...prefixes.map((prefix) => `${prefix}*`)]

/** True if all selectors are topic names. */
export const isExact = ({ prefixes, patterns }: Selectors): boolean => prefixes.length === 0 && patterns.length === 0

export function isSelected({ topics, prefixes, patterns }: Selectors, topic: string): boolean {
  if (topics.includes(topic) || prefixes.some((prefix) => topic.startsWith(prefix))) return true
  if (patterns.length === 0) return false
  const url = parseTopicUrl(topic)
  return url !== undefined && patterns.some((pattern) => pattern.test(url))
}
