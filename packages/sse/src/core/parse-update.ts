import type { EventExtras } from './event.ts'
import type { SseQuery } from './parse-query.ts'
import { ALL_TOPICS } from './selectors.ts'
import { isHubTopic } from './topic-url.ts'

/** Maximum topics of an update. */
const MAX_UPDATE_TOPICS = 100

/** Maximum length of a topic (characters). */
export const MAX_TOPIC_LENGTH = 1_024

/** Maximum length of a type or an id (characters). */
const MAX_FIELD_LENGTH = 256

/** An update from a publisher. */
export interface MercureUpdate {
  readonly topic: string
  readonly value: string
  readonly more: EventExtras | undefined
}

/** Characters that are invisible or change the characters around them. */
export const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}]/u

/**
 * Parses the fields of an update as the Mercure protocol defines them. Ignores unknown fields.
 * @param base the hub's URL
 * @returns the update, or a description of the error
 */
export function parseUpdate(form: SseQuery, base: string): MercureUpdate | string {
  const topics = [...new Set([form.topic ?? []].flat())]
  const [topic, ...alternates] = topics
  if (topic === undefined) return '`topic` is missing'
  if (topics.length > MAX_UPDATE_TOPICS) return `more than ${MAX_UPDATE_TOPICS} topics`
  const problem = topics.map((one) => checkTopic(one, base)).find(Boolean)
  if (problem) return problem
  const { data = '', id, type, retry } = form
  if (Array.isArray(data) || Array.isArray(id) || Array.isArray(type) || Array.isArray(retry)) {
    return 'only `topic` may be repeated'
  }
  if (id !== undefined && (id.startsWith('#') || id === 'earliest' || isInvalidField(id))) return 'invalid `id`'
  if (type !== undefined && (type === 'mercure' || isInvalidField(type))) return 'invalid `type`'
  if (retry !== undefined && !/^\d{1,15}$/.test(retry)) return '`retry` is not a number'
  const more: EventExtras = {
    ...(alternates.length > 0 && { alternates }),
    ...('private' in form && { isPrivate: true }),
    ...(type && { type }),
    ...(retry && { retry: Number(retry) }),
  }
  return { topic, value: data, more: Object.keys(more).length > 0 ? more : undefined }
}

const isInvalidField = (text: string) => text.length > MAX_FIELD_LENGTH || INVISIBLE_CHARACTERS.test(text)

function checkTopic(topic: string, base: string): string | undefined {
  if (topic === '' || topic === ALL_TOPICS) return 'no client can publish to this topic'
  if (topic.length > MAX_TOPIC_LENGTH) return `a topic is longer than ${MAX_TOPIC_LENGTH} characters`
  if (INVISIBLE_CHARACTERS.test(topic)) return 'a topic contains control or format characters'
  return isHubTopic(topic, base) ? 'a topic is reserved for the hub' : undefined
}
