import type { TopicPattern } from './topic-pattern.ts'
import { parseTopicUrl } from './topic-url.ts'

/** Some topics: those that a stream asks for, or a token allows. */
export interface Selectors {
  readonly topics: readonly string[]
  /** All topics that begin with one of these; with an empty one, all there are. */
  readonly prefixes: readonly string[]
  readonly patterns: readonly TopicPattern[]
}

/** What matches every topic. */
export const ALL_TOPICS = '*'

const EMPTY_LIST: readonly never[] = []

const removeDuplicates = (texts: readonly string[]): readonly string[] =>
  texts.length < 2 ? texts : [...new Set(texts)]

/** Selectors without doubles. */
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

/** The same selectors, sharing no text with what they were read from: a part of a request would keep all of it. */
export function copySelectors({ topics, prefixes, patterns }: Selectors): Selectors {
  const [topicsCopy, prefixesCopy] = JSON.parse(JSON.stringify([topics, prefixes])) as [string[], string[]]
  return {
    topics: topics.length === 0 ? EMPTY_LIST : topicsCopy,
    prefixes: prefixes.length === 0 ? EMPTY_LIST : prefixesCopy,
    patterns,
  }
}

/** The same text for the same selectors, whatever their order, and no others. */
export function toSelectorsKey(selectors: Selectors): string {
  const { topics, prefixes, patterns } = selectors
  if (topics.length === 1 && isExact(selectors)) return `=${topics[0]}`
  return JSON.stringify([topics.toSorted(), prefixes.toSorted(), patterns.map(({ source }) => source).sort()])
}

/** What they are called where streams are counted, but for patterns: anybody can make those. */
export const getSelectorNames = ({ topics, prefixes }: Selectors): readonly string[] =>
  prefixes.length === 0 ? topics : [...topics, ...prefixes.map((prefix) => `${prefix}*`)]

/** Whether they name their topics, each. */
export const isExact = ({ prefixes, patterns }: Selectors): boolean => prefixes.length === 0 && patterns.length === 0

export function isSelected({ topics, prefixes, patterns }: Selectors, topic: string): boolean {
  if (topics.includes(topic) || prefixes.some((prefix) => topic.startsWith(prefix))) return true
  if (patterns.length === 0) return false
  const url = parseTopicUrl(topic)
  return url !== undefined && patterns.some((pattern) => pattern.test(url))
}
