import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { SseQuery } from './parse-query.ts'
import { createSelectors, ALL_TOPICS, type Selectors } from './selectors.ts'
import { TopicPattern } from './topic-pattern.ts'
import { INVISIBLE_CHARACTERS, MAX_TOPIC_LENGTH, TOPIC_FORM } from './parse-update.ts'

/** Maximum number of matchers of one stream. */
const MAX_MATCHERS = 500

/** Maximum number of patterns among the matchers. It is lower because parsing a pattern takes 30 us. */
const MAX_PATTERNS = 100

const EXACT_NAMES = ['match', 'match_exact']
const PATTERN_NAME = 'match_urlpattern'

/**
 * Parses the subscription parameters of the Mercure protocol.
 * @param base the hub's URL, against which relative patterns are resolved
 * @returns the selectors, or a description of the error
 */
export function parseMatchers(query: SseQuery, base: string): Selectors | string {
  const unknown = Object.keys(query).find(
    (name) => name.startsWith('match') && !EXACT_NAMES.includes(name) && name !== PATTERN_NAME,
  )
  if (unknown !== undefined)
    return `${formatReceived(unknown)} is an unknown matcher; known: ${[...EXACT_NAMES, PATTERN_NAME].join(', ')}`
  const exact = EXACT_NAMES.flatMap((name) => query[name] ?? [])
  const patterns = [query[PATTERN_NAME] ?? []].flat()
  const all = [...exact, ...patterns]
  if (all.length === 0) return '`match` or `match_urlpattern` must be given, such as match=news; received neither'
  if (all.length > MAX_MATCHERS) return `there must be at most ${MAX_MATCHERS} matchers; received ${all.length}`
  if (patterns.length > MAX_PATTERNS)
    return `there must be at most ${MAX_PATTERNS} patterns; received ${patterns.length}`
  const wrong = all.find((one) => one === '' || one.length > MAX_TOPIC_LENGTH || INVISIBLE_CHARACTERS.test(one))
  if (wrong !== undefined)
    return `${exact.includes(wrong) ? '`match`' : '`match_urlpattern`'} must be ${TOPIC_FORM}; received ${formatReceived(wrong)}`
  // This matcher selects every topic, so the other matchers are redundant.
  if (all.includes(ALL_TOPICS)) return createSelectors([], [''])
  const parsed = patterns.map((pattern) => TopicPattern.parse(pattern, base))
  const invalid = parsed.indexOf(undefined)
  if (invalid >= 0)
    return `\`${PATTERN_NAME}\` must be a URL pattern without regular expressions, such as /news/:id; received ${formatReceived(patterns[invalid])}`
  return createSelectors(exact, [], parsed as TopicPattern[])
}
