import type { SseQuery } from './parse-query.ts'
import { createSelectors, ALL_TOPICS, type Selectors } from './selectors.ts'
import { TopicPattern } from './topic-pattern.ts'
import { INVISIBLE_CHARACTERS, MAX_TOPIC_LENGTH } from './parse-update.ts'

/** Maximum matchers of one stream. */
const MAX_MATCHERS = 500

/** Maximum patterns among the matchers: parsing one takes 30 us. */
const MAX_PATTERNS = 100

const EXACT_NAMES = ['match', 'match_exact']
const PATTERN_NAME = 'match_urlpattern'

/**
 * Parses the subscription parameters of the Mercure protocol.
 * @param base the hub's URL
 * @returns the selectors, or a description of the error
 */
export function parseMatchers(query: SseQuery, base: string): Selectors | string {
  const unknown = Object.keys(query).find(
    (name) => name.startsWith('match') && !EXACT_NAMES.includes(name) && name !== PATTERN_NAME,
  )
  if (unknown !== undefined) return 'unknown kind of matcher'
  const exact = EXACT_NAMES.flatMap((name) => query[name] ?? [])
  const patterns = [query[PATTERN_NAME] ?? []].flat()
  const all = [...exact, ...patterns]
  if (all.length === 0) return '`match` or `match_urlpattern` is missing'
  if (all.length > MAX_MATCHERS) return `more than ${MAX_MATCHERS} matchers`
  if (patterns.length > MAX_PATTERNS) return `more than ${MAX_PATTERNS} patterns`
  if (all.some((one) => one === '' || one.length > MAX_TOPIC_LENGTH)) return 'a matcher is empty or too long'
  if (all.some((one) => INVISIBLE_CHARACTERS.test(one))) return 'a matcher contains control or format characters'
  // This matcher includes all others.
  if (all.includes(ALL_TOPICS)) return createSelectors([], [''])
  const parsed = patterns.map((pattern) => TopicPattern.parse(pattern, base))
  if (parsed.includes(undefined)) return 'a pattern is malformed or contains a regular expression'
  return createSelectors(exact, [], parsed as TopicPattern[])
}
