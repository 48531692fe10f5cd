import { getTopics, type Event } from './event.ts'
import type { TopicPermissions } from './topic-permissions.ts'

/** Read access of a stream's client, which decides the events that the stream receives. */
export interface ReadScope {
  /** Equal for scopes with the same access. */
  readonly key: string
  canRead(event: Pick<Event, 'topic' | 'more'>): boolean
}

/** Scope without a token: public events only. */
export const PUBLIC_SCOPE: ReadScope = { key: '', canRead: ({ more }) => !more?.isPrivate }

/** Scope of all events. */
export const FULL_SCOPE: ReadScope = { key: '*', canRead: () => true }

/** Scope of public events and the topics that a token allows. If reads require a token, of those topics only. */
export function createReadScope(subscribe: TopicPermissions, isReadTokenRequired: boolean): ReadScope {
  return {
    key: `${isReadTokenRequired}${subscribe.key}`,
    canRead(event) {
      if (!isReadTokenRequired && !event.more?.isPrivate) return true
      return getTopics(event).some((topic) => subscribe.isAllowed(topic))
    },
  }
}
