import type { Query } from './query.ts'
import { createSelectors, EVERY_TOPIC, type Selectors } from './selectors.ts'
import { TopicPattern } from './topic-pattern.ts'
import { INVISIBLE, LONGEST_TOPIC } from './update.ts'

/** Most matchers of one stream. */
const MOST_MATCHERS = 500

/** Most of them that are patterns: reading one takes 30 us. */
const MOST_PATTERNS = 100

const EXACT = ['match', 'match_exact']
const PATTERN = 'match_urlpattern'

/**
 * Reads what the Mercure protocol says to subscribe to.
 * @param base the hub's URL
 * @returns or what is wrong with it
 */
export function readSubscription(query: Query, base: string): Selectors | string {
  const unknown = Object.keys(query).find(
    (name) => name.startsWith('match') && !EXACT.includes(name) && name !== PATTERN,
  )
  if (unknown !== undefined) return 'there is no such kind of matcher'
  const exact = EXACT.flatMap((name) => query[name] ?? [])
  const patterns = [query[PATTERN] ?? []].flat()
  const all = [...exact, ...patterns]
  if (all.length === 0) return '`match` or `match_urlpattern` is missing'
  if (all.length > MOST_MATCHERS) return `more than ${MOST_MATCHERS} matchers`
  if (patterns.length > MOST_PATTERNS) return `more than ${MOST_PATTERNS} patterns`
  if (all.some((one) => one === '' || one.length > LONGEST_TOPIC)) return 'a matcher is empty or too long'
  if (all.some((one) => INVISIBLE.test(one))) return 'a matcher has control or format characters'
  // Then nothing else it says can add to that.
  if (all.includes(EVERY_TOPIC)) return createSelectors([], [''])
  const parsed = patterns.map((pattern) => TopicPattern.parse(pattern, base))
  if (parsed.includes(undefined)) return 'a pattern is malformed, or has a regular expression'
  return createSelectors(exact, [], parsed as TopicPattern[])
}
