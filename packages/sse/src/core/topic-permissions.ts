import { parseLegacySelectors } from './parse-legacy-selectors.ts'
import { createSelectors, ALL_TOPICS, isSelected, toSelectorsKey, type Selectors } from './selectors.ts'
import { TopicPattern } from './patterns/topic-pattern.ts'

/** The topics for which a token allows an action. */
export class TopicPermissions {
  /** Equal for the same permissions. */
  readonly key: string
  readonly #topics: ReadonlySet<string>
  /** The prefixes and patterns. */
  readonly #rest: Selectors

  constructor(selectors: Selectors) {
    this.key = toSelectorsKey(selectors)
    this.#topics = new Set(selectors.topics)
    this.#rest = { ...selectors, topics: [] }
  }

  isAllowed(topic: string): boolean {
    return this.#topics.has(topic) || isSelected(this.#rest, topic)
  }
}

/** Permissions of a token. */
export interface TokenPermissions {
  readonly publish: TopicPermissions
  readonly subscribe: TopicPermissions
  /** Returns the data that the token attaches to a subscription. @param matcher text of its matcher */
  getPayload(matcher: string): unknown
}

const DETAIL_TYPE = 'https://mercure.rocks/authorization-detail'
const ACTIONS = ['publish', 'subscribe'] as const

type DetailFields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is DetailFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isNonEmptyList = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > 0

/**
 * Parses the claim `authorization_details` of a token. Ignores details of other types, and unknown actions. Returns
 * undefined if any part is malformed or unknown: a token is valid only as a whole (draft 08, "Authorization Details").
 * @param base base URL of relative patterns
 */
export function parseTokenPermissions(details: unknown, base: string): TokenPermissions | undefined {
  if (details !== undefined && !Array.isArray(details)) return undefined
  const drafts = { publish: new PermissionsDraft(), subscribe: new PermissionsDraft() }
  const payloads: { readonly draft: PermissionsDraft; readonly payload: unknown }[] = []
  for (const detail of (details ?? []) as unknown[]) {
    if (!isFields(detail)) return undefined
    if (detail.type !== DETAIL_TYPE) continue
    const { actions, topics, payload = {} } = detail
    if (!isNonEmptyList(actions) || !isNonEmptyList(topics) || !isFields(payload)) return undefined
    if (!actions.every((action) => typeof action === 'string')) return undefined
    const actionDrafts = ACTIONS.filter((action) => actions.includes(action)).map((action) => drafts[action])
    if (actions.includes('subscribe')) {
      const draft = new PermissionsDraft()
      actionDrafts.push(draft)
      payloads.push({ draft, payload: detail.payload })
    }
    for (const topic of topics) {
      if (!isFields(topic) || !parseTopic(topic, actionDrafts, base)) return undefined
    }
  }
  return {
    publish: drafts.publish.toPermissions(),
    subscribe: drafts.subscribe.toPermissions(),
    getPayload: (matcher) => payloads.find(({ draft }) => draft.toPermissions().isAllowed(matcher))?.payload,
  }
}

class PermissionsDraft {
  readonly topics: string[] = []
  readonly prefixes: string[] = []
  readonly patterns: TopicPattern[] = []

  toPermissions(): TopicPermissions {
    return new TopicPermissions(createSelectors(this.topics, this.prefixes, this.patterns))
  }
}

/** Maximum number of topic selectors of a 0.x token. */
const MAX_LEGACY_SELECTORS = 500

/**
 * Parses the claim `mercure` of a 0.x token. Each selector is a URI template, or a topic; `*` selects every topic.
 * Returns undefined if it is malformed.
 */
export function parseLegacyPermissions(claim: unknown): TokenPermissions | undefined {
  if (claim === undefined) return parseLegacyPermissions({})
  if (!isFields(claim)) return undefined
  const [publish, subscribe] = ACTIONS.map((action) => {
    const texts = claim[action] ?? []
    if (!Array.isArray(texts) || texts.length > MAX_LEGACY_SELECTORS) return undefined
    if (!texts.every((text): text is string => typeof text === 'string')) return undefined
    return new TopicPermissions(parseLegacySelectors(texts))
  })
  return publish && subscribe && { publish, subscribe, getPayload: () => claim.payload }
}

/** Adds a topic of `authorization_details` to the drafts. Returns false if the topic has an unknown format. */
function parseTopic(
  { match, match_type: type = 'exact' }: DetailFields,
  drafts: readonly PermissionsDraft[],
  base: string,
): boolean {
  if (typeof match !== 'string' || match === '' || (type !== 'exact' && type !== 'urlpattern')) return false
  const pattern = type === 'urlpattern' && match !== ALL_TOPICS ? TopicPattern.parse(match, base) : undefined
  if (type === 'urlpattern' && match !== ALL_TOPICS && !pattern) return false
  for (const draft of drafts) {
    if (match === ALL_TOPICS) draft.prefixes.push('')
    else if (pattern) draft.patterns.push(pattern)
    else draft.topics.push(match)
  }
  return true
}
