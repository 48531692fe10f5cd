import { createSelectors, EVERY_TOPIC, selects, selectorsKey, type Selectors } from './selectors.ts'
import { TopicPattern } from './topic-pattern.ts'

/** The topics for which a token allows something. */
export class Allowance {
  readonly key: string
  readonly #topics: ReadonlySet<string>
  readonly #others: Selectors

  constructor(selectors: Selectors) {
    this.key = selectorsKey(selectors)
    this.#topics = new Set(selectors.topics)
    this.#others = { ...selectors, topics: [] }
  }

  allows(topic: string): boolean {
    return this.#topics.has(topic) || selects(this.#others, topic)
  }
}

/** What a token allows its bearer. */
export interface Grants {
  readonly publish: Allowance
  readonly subscribe: Allowance
}

const TYPE = 'https://mercure.rocks/authorization-detail'
const ACTIONS = ['publish', 'subscribe'] as const

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/**
 * Reads the claim `authorization_details`. Nothing where it says what is not understood: then all of it may mean less than
 * it seems to.
 * @param base what relative patterns are resolved against
 */
export function readGrants(details: unknown, base: string): Grants | undefined {
  if (details !== undefined && !Array.isArray(details)) return undefined
  const granted = { publish: new Draft(), subscribe: new Draft() }
  for (const detail of (details ?? []) as unknown[]) {
    if (!isFields(detail)) return undefined
    if (detail.type !== TYPE) continue
    const { actions, topics } = detail
    if (!Array.isArray(actions) || !Array.isArray(topics)) return undefined
    const drafts = ACTIONS.filter((action) => actions.includes(action)).map((action) => granted[action])
    for (const topic of topics as unknown[]) {
      if (!isFields(topic) || !readTopic(topic, drafts, base)) return undefined
    }
  }
  return { publish: granted.publish.allowance(), subscribe: granted.subscribe.allowance() }
}

class Draft {
  readonly topics: string[] = []
  readonly prefixes: string[] = []
  readonly patterns: TopicPattern[] = []

  allowance(): Allowance {
    return new Allowance(createSelectors(this.topics, this.prefixes, this.patterns))
  }
}

/** Returns whether a topic of a detail is understood. */
function readTopic({ match, match_type: type = 'exact' }: Fields, drafts: readonly Draft[], base: string): boolean {
  if (typeof match !== 'string' || (type !== 'exact' && type !== 'urlpattern')) return false
  const pattern = type === 'urlpattern' && match !== EVERY_TOPIC ? TopicPattern.parse(match, base) : undefined
  if (type === 'urlpattern' && match !== EVERY_TOPIC && !pattern) return false
  for (const draft of drafts) {
    if (match === EVERY_TOPIC) draft.prefixes.push('')
    else if (pattern) draft.patterns.push(pattern)
    else draft.topics.push(match)
  }
  return true
}
