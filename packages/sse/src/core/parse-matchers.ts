import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { SseQuery } from './parse-query.ts'
import { parseLegacySelectors } from './parse-legacy-selectors.ts'
import { createSelectors, ALL_TOPICS, type Selectors } from './selectors.ts'
import { TopicPattern } from './patterns/topic-pattern.ts'
import { INVISIBLE_CHARACTERS, MAX_TOPIC_LENGTH, TOPIC_FORM } from './parse-update.ts'

/** Maximum number of matchers of one stream. */
const MAX_MATCHERS = 500

/** Maximum number of patterns among the matchers. It is lower because parsing a pattern takes 30 us. */
const MAX_PATTERNS = 100

const EXACT_NAMES = ['match', 'match_exact']
const PATTERN_NAME = 'match_urlpattern'
/** Parameter of topic selectors in the protocol 0.x. */
const LEGACY_NAME = 'topic'

/** A matcher of a subscription. `topic` is a topic selector of the protocol 0.x. */
export interface SubscriptionMatcher {
  readonly type: 'exact' | 'urlpattern' | 'topic'
  readonly text: string
}

/** Returns the matchers of a valid query, for the list of active subscriptions. */
export const listMatchers = (query: SseQuery, isCompatible: boolean): readonly SubscriptionMatcher[] => {
  const list = (name: string, type: SubscriptionMatcher['type']) =>
    [query[name] ?? []].flat().map((text) => ({ type, text }))
  return [
    ...EXACT_NAMES.flatMap((name) => list(name, 'exact')),
    ...list(PATTERN_NAME, 'urlpattern'),
    ...(isCompatible ? list(LEGACY_NAME, 'topic') : []),
  ]
}

/**
 * Parses the subscription parameters of the Mercure protocol.
 * @param base the hub's URL, against which relative patterns are resolved
 * @param isCompatible if true, topic selectors of the protocol 0.x are parsed, too
 * @returns the selectors, or a description of the error
 */
export function parseMatchers(query: SseQuery, base: string, isCompatible = false): Selectors | string {
  const unknown = Object.keys(query).find(
    (name) => name.startsWith('match') && !EXACT_NAMES.includes(name) && name !== PATTERN_NAME,
  )
  if (unknown !== undefined)
    return `${formatReceived(unknown)} is an unknown matcher; known: ${[...EXACT_NAMES, PATTERN_NAME].join(', ')}`
  const exact = EXACT_NAMES.flatMap((name) => query[name] ?? [])
  const patterns = [query[PATTERN_NAME] ?? []].flat()
  const legacy = isCompatible ? [query[LEGACY_NAME] ?? []].flat() : []
  const all = [...exact, ...patterns, ...legacy]
  if (all.length === 0) {
    const names = isCompatible ? '`topic`, `match`' : '`match`'
    return `${names} or \`match_urlpattern\` must be given, such as match=news; received none`
  }
  if (all.length > MAX_MATCHERS) return `there must be at most ${MAX_MATCHERS} matchers; received ${all.length}`
  if (patterns.length > MAX_PATTERNS)
    return `there must be at most ${MAX_PATTERNS} patterns; received ${patterns.length}`
  const { topics, patterns: templates } = parseLegacySelectors(legacy)
  if (templates.length > MAX_PATTERNS)
    return `there must be at most ${MAX_PATTERNS} URI templates; received ${templates.length}`
  const wrong = all.find((one) => one === '' || one.length > MAX_TOPIC_LENGTH || INVISIBLE_CHARACTERS.test(one))
  if (wrong !== undefined)
    return `${legacy.includes(wrong) ? '`topic`' : exact.includes(wrong) ? '`match`' : '`match_urlpattern`'} must be ${TOPIC_FORM}; received ${formatReceived(wrong)}`
  // This matcher selects every topic, so the other matchers are redundant.
  if (all.includes(ALL_TOPICS)) return createSelectors([], [''])
  const parsed = patterns.map((pattern) => TopicPattern.parse(pattern, base))
  const invalid = parsed.indexOf(undefined)
  if (invalid >= 0)
    return `\`${PATTERN_NAME}\` must be a URL pattern without regular expressions, such as /news/:id; received ${formatReceived(patterns[invalid])}`
  return createSelectors([...exact, ...topics], [], [...(parsed as TopicPattern[]), ...templates])
}
