import { topicsOf, type Event } from './event.ts'
import type { Allowance } from './allowance.ts'

/** Who reads a stream, as far as that decides what it may be told. */
export interface Reader {
  /** The same for those who may read the same. */
  readonly key: string
  sees(event: Pick<Event, 'topic' | 'more'>): boolean
}

/** Whoever has shown no token: reads what is public. */
export const PUBLIC_READER: Reader = { key: '', sees: ({ more }) => !more?.isPrivate }

/** Who may read everything. */
export const FULL_READER: Reader = { key: '*', sees: () => true }

/** Who may read what is public and what a token allows; or, where nothing is public, that alone. */
export function createReader(subscribe: Allowance, isAllGuarded: boolean): Reader {
  return {
    key: `${isAllGuarded}${subscribe.key}`,
    sees(event) {
      if (!isAllGuarded && !event.more?.isPrivate) return true
      return topicsOf(event).some((topic) => subscribe.allows(topic))
    },
  }
}
