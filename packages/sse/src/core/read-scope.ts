import { getTopics, type Event } from './event.ts'
import type { TopicPermissions } from './topic-permissions.ts'

/** Who reads a stream, as far as that decides what it may be told. */
export interface ReadScope {
  /** The same for those who may read the same. */
  readonly key: string
  canRead(event: Pick<Event, 'topic' | 'more'>): boolean
}

/** Whoever has shown no token: reads what is public. */
export const PUBLIC_SCOPE: ReadScope = { key: '', canRead: ({ more }) => !more?.isPrivate }

/** Who may read everything. */
export const FULL_SCOPE: ReadScope = { key: '*', canRead: () => true }

/** Who may read what is public and what a token allows; or, where nothing is public, that alone. */
export function createReadScope(subscribe: TopicPermissions, isReadTokenRequired: boolean): ReadScope {
  return {
    key: `${isReadTokenRequired}${subscribe.key}`,
    canRead(event) {
      if (!isReadTokenRequired && !event.more?.isPrivate) return true
      return getTopics(event).some((topic) => subscribe.isAllowed(topic))
    },
  }
}
