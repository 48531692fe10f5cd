import type { TopicPattern } from './topic-pattern.ts'
import { readTopicUrl } from './topic-url.ts'

/** Some topics: those that a stream asks for, or a token allows. */
export interface Selectors {
  readonly topics: readonly string[]
  /** All topics that begin with one of these; with an empty one, all there are. */
  readonly prefixes: readonly string[]
  readonly patterns: readonly TopicPattern[]
}

/** What matches every topic. */
export const EVERY_TOPIC = '*'

const NONE: readonly never[] = []

/** A part of a request's text would keep all of that in memory. */
const flat = (text: string) => JSON.parse(JSON.stringify(text)) as string

const distinct = (texts: readonly string[]): readonly string[] =>
  texts.length === 0 ? NONE : [...new Set(texts)].map(flat)

/** Selectors without doubles that share nothing with what they were read from. */
export function createSelectors(
  topics: readonly string[],
  prefixes: readonly string[] = NONE,
  patterns: readonly TopicPattern[] = NONE,
): Selectors {
  const bySource = new Map(patterns.map((pattern) => [pattern.source, pattern]))
  return {
    topics: distinct(topics),
    prefixes: distinct(prefixes),
    patterns: bySource.size === 0 ? NONE : [...bySource.values()],
  }
}

/** The same text for the same selectors, whatever their order. */
export const selectorsKey = ({ topics, prefixes, patterns }: Selectors): string =>
  JSON.stringify([topics.toSorted(), prefixes.toSorted(), patterns.map(({ source }) => source).sort()])

/** What they are called where streams are counted. */
export const namesOf = ({ topics, prefixes, patterns }: Selectors): readonly string[] =>
  prefixes.length === 0 && patterns.length === 0
    ? topics
    : [...topics, ...prefixes.map((prefix) => `${prefix}*`), ...patterns.map(({ source }) => source)]

/** Whether they name their topics, each. */
export const areExact = ({ prefixes, patterns }: Selectors): boolean => prefixes.length === 0 && patterns.length === 0

export function selects({ topics, prefixes, patterns }: Selectors, topic: string): boolean {
  if (topics.includes(topic) || prefixes.some((prefix) => topic.startsWith(prefix))) return true
  if (patterns.length === 0) return false
  const url = readTopicUrl(topic)
  return url !== undefined && patterns.some((pattern) => pattern.matches(url))
}
