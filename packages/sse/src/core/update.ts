import type { Extras } from './event.ts'
import type { Query } from './query.ts'
import { EVERY_TOPIC } from './selectors.ts'
import { isHubTopic } from './topic-url.ts'

/** Most topics of an update. */
const MOST_TOPICS = 100

/** Longest topic (characters). */
export const LONGEST_TOPIC = 1_024

/** Longest type and id (characters). */
const LONGEST_WORD = 256

/** An update that a publisher sent. */
export interface Update {
  readonly topic: string
  readonly value: string
  readonly more: Extras | undefined
}

/** Characters that change what is around them, or are not seen. */
export const INVISIBLE = /[\p{Cc}\p{Cf}]/u

/**
 * Reads the fields of an update as the Mercure protocol has them; unknown ones are not looked at.
 * @param base the hub's URL
 * @returns or what is wrong with them
 */
export function readUpdate(form: Query, base: string): Update | string {
  const topics = [...new Set([form.topic ?? []].flat())]
  const [topic, ...alternates] = topics
  if (topic === undefined) return '`topic` is missing'
  if (topics.length > MOST_TOPICS) return `more than ${MOST_TOPICS} topics`
  const fault = topics.map((one) => topicFault(one, base)).find(Boolean)
  if (fault) return fault
  const { data = '', id, type, retry } = form
  if (Array.isArray(data) || Array.isArray(id) || Array.isArray(type) || Array.isArray(retry)) {
    return 'only `topic` may come several times'
  }
  if (id !== undefined && (id.startsWith('#') || id === 'earliest' || isNoWord(id))) return '`id` is not one'
  if (type !== undefined && (type === 'mercure' || isNoWord(type))) return '`type` is not one'
  if (retry !== undefined && !/^\d{1,15}$/.test(retry)) return '`retry` is no number'
  const more: Extras = {
    ...(alternates.length > 0 && { alternates }),
    ...('private' in form && { isPrivate: true }),
    ...(type && { type }),
    ...(retry && { retry: Number(retry) }),
  }
  return { topic, value: data, more: Object.keys(more).length > 0 ? more : undefined }
}

const isNoWord = (text: string) => text.length > LONGEST_WORD || INVISIBLE.test(text)

function topicFault(topic: string, base: string): string | undefined {
  if (topic === '' || topic === EVERY_TOPIC) return 'nobody can publish to that topic'
  if (topic.length > LONGEST_TOPIC) return `a topic is longer than ${LONGEST_TOPIC} characters`
  if (INVISIBLE.test(topic)) return 'a topic has control or format characters'
  return isHubTopic(topic, base) ? "a topic is the hub's own" : undefined
}
