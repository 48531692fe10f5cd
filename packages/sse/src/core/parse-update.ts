import { formatReceived } from '@influencer-stats/runtime/received-value'
import type { EventExtras } from './event.ts'
import type { SseQuery } from './parse-query.ts'
import { ALL_TOPICS } from './selectors.ts'
import { isHubTopic } from './patterns/topic-url.ts'

/** Maximum number of topics of an update. */
const MAX_UPDATE_TOPICS = 100

/** Maximum length of a topic (characters). */
export const MAX_TOPIC_LENGTH = 1_024

/** Maximum length of the fields `type` and `id` (characters). */
const MAX_FIELD_LENGTH = 256

/** Descriptions of valid topics, and of valid types and ids, for error messages. */
export const TOPIC_FORM = `1 to ${MAX_TOPIC_LENGTH} visible characters such as news`
const FIELD_FORM = `at most ${MAX_FIELD_LENGTH} visible characters`

/** A parsed update of the Mercure protocol. */
export interface MercureUpdate {
  readonly topic: string
  readonly value: string
  readonly more: EventExtras | undefined
}

/** Characters that are invisible or change the characters around them. */
export const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}]/u

/**
 * Parses the fields of an update as the Mercure protocol defines them. Ignores unknown fields.
 * @param base the hub's URL, against which relative topics are resolved
 * @returns the update, or a description of the error
 */
export function parseUpdate(form: SseQuery, base: string): MercureUpdate | string {
  const topics = [...new Set([form.topic ?? []].flat())]
  const [topic, ...alternates] = topics
  if (topic === undefined) return '`topic` must be given, such as topic=news; received no value'
  if (topics.length > MAX_UPDATE_TOPICS)
    return `there must be at most ${MAX_UPDATE_TOPICS} topics; received ${topics.length}`
  const problem = topics.map((one) => checkTopic(one, base)).find(Boolean)
  if (problem) return problem
  const { data = '', id, type, retry } = form
  if (Array.isArray(data) || Array.isArray(id) || Array.isArray(type) || Array.isArray(retry)) {
    const repeated = Object.entries({ data, id, type, retry }).find(([, value]) => Array.isArray(value))!
    return `\`${repeated[0]}\` must be given once, only \`topic\` may repeat; received ${repeated[1]!.length} values`
  }
  if (id !== undefined && (id.startsWith('#') || id === 'earliest' || isInvalidField(id)))
    return `\`id\` must be ${FIELD_FORM}, not "earliest" and not with # first; received ${formatReceived(id)}`
  if (type !== undefined && (type === 'mercure' || isInvalidField(type)))
    return `\`type\` must be ${FIELD_FORM}, not "mercure"; received ${formatReceived(type)}`
  if (retry !== undefined && !/^\d{1,15}$/.test(retry))
    return `\`retry\` must be a whole number of 1 to 15 digits (ms) such as 2000; received ${formatReceived(retry)}`
  const more: EventExtras = {
    ...(alternates.length > 0 && { alternates }),
    ...('private' in form && { isPrivate: true }),
    ...(id && { id }),
    ...(type && { type }),
    ...(retry && { retry: Number(retry) }),
  }
  return { topic, value: data, more: Object.keys(more).length > 0 ? more : undefined }
}

const isInvalidField = (text: string) => text.length > MAX_FIELD_LENGTH || INVISIBLE_CHARACTERS.test(text)

function checkTopic(topic: string, base: string): string | undefined {
  const isAllowed = topic !== '' && topic !== ALL_TOPICS && !isHubTopic(topic, base)
  if (isAllowed && topic.length <= MAX_TOPIC_LENGTH && !INVISIBLE_CHARACTERS.test(topic)) return undefined
  return `\`topic\` must be ${TOPIC_FORM}, not * and not a topic of the hub; received ${formatReceived(topic)}`
}
