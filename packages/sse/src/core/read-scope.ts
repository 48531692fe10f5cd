import { getTopics, type Event } from './event.ts'
import type { TopicPermissions } from './topic-permissions.ts'

/** Read access of a client. A stream receives only the events that its client can read. */
export interface ReadScope {
  /** Equal for scopes with the same access. Streams with equal keys may share a group. */
  readonly key: string
  canRead(event: Pick<Event, 'topic' | 'more'>): boolean
}

/** Scope without a token: public events only. */
export const PUBLIC_SCOPE: ReadScope = { key: '', canRead: ({ more }) => !more?.isPrivate }

/** Scope of all events. */
export const FULL_SCOPE: ReadScope = { key: '*', canRead: () => true }

/**
 * Creates the scope of an access token: public events, and private events of the topics that the token allows.
 * @param isReadTokenRequired if true, no event is public
 */
export function createReadScope(subscribe: TopicPermissions, isReadTokenRequired: boolean): ReadScope {
  return {
    key: `${isReadTokenRequired}${subscribe.key}`,
    canRead(event) {
      if (!isReadTokenRequired && !event.more?.isPrivate) return true
      return getTopics(event).some((topic) => subscribe.isAllowed(topic))
    },
  }
}
