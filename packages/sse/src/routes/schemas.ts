import { NAME_PATTERN, TEXT_PATTERN } from '@influencer-stats/runtime/validation'
import type { FromSchema } from 'json-schema-to-ts'
import { MAX_LISTED_TOPICS } from '../hub/connection-counts.ts'

const topic = { type: 'string', minLength: 1, maxLength: 256, pattern: NAME_PATTERN } as const

/** Maximum number of topics, and of matches, of one stream. */
export const MAX_TOPICS = 500

const topics = { anyOf: [topic, { type: 'array', minItems: 1, maxItems: MAX_TOPICS, items: topic }] } as const

/** Other parameters are ignored: some clients add their own, such as `_=1` against caches. */
export const waitQuery = {
  type: 'object',
  properties: {
    cid: { type: 'string', maxLength: 256, description: 'A label for the stream, without effect.' },
    topic: {
      ...topics,
      description: `Topic of the stream; at most ${MAX_TOPICS}. Without \`topic\` and \`match\` it is \`default\`.`,
    },
    match: {
      ...topics,
      description:
        'Prefix of topics, with a `*` at its end: `collections/*`; `*` selects every topic. Without `*` it is the name of a topic.',
    },
    named: {
      type: 'string',
      enum: ['0', '1'],
      description: '`1`: each value is JSON with its topic: `{"topic":"a","value":"1"}`.',
    },
    last: { type: 'string', enum: ['0', '1'], description: '`1` begins with the current value of each topic.' },
    lastEventId: {
      type: 'string',
      maxLength: 256,
      description: 'Id of the event to resume after; for clients that cannot send `Last-Event-ID`.',
    },
    access_token: { type: 'string', maxLength: 4_096, description: 'The token; for clients that cannot send headers.' },
  },
} as const

const matchers = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } as const

export const mercureQuery = {
  type: 'object',
  properties: {
    match: { ...matchers, description: 'A topic; `*` selects every topic.', examples: ['news'] },
    match_exact: { ...matchers, description: 'The same as `match`.' },
    match_urlpattern: { ...matchers, description: 'A URL pattern; a relative one is resolved against the hub.' },
    topic: {
      ...matchers,
      description: 'Only with `--mercure-compatibility 8`: a topic, or a URI template.',
    },
    last_event_id: {
      type: 'string',
      description:
        'Id of the event to resume after; for clients that cannot send `Last-Event-ID`. `earliest`: all stored events.',
    },
  },
} as const

export type WaitQuery = FromSchema<typeof waitQuery>

const v = { type: 'string', description: 'The value.', examples: ['42'] } as const

export const getPutQuery = {
  type: 'object',
  required: ['v'],
  additionalProperties: false,
  properties: { v, topic },
} as const

// Without an example, because the body has one.
export const postPutQuery = {
  type: 'object',
  additionalProperties: false,
  properties: { v: { type: 'string', description: 'The value.' }, topic },
} as const

/** Maximum number of values of one request. */
const MAX_VALUES = 1_000

export const valuesBody = {
  type: 'array',
  minItems: 1,
  maxItems: MAX_VALUES,
  examples: [[{ topic: 'news', value: '42' }]],
  items: {
    type: 'object',
    required: ['value'],
    additionalProperties: false,
    properties: { topic, value: { type: 'string', pattern: TEXT_PATTERN } },
  },
} as const

export interface PutValue {
  readonly topic?: string
  readonly value: string
}

const id = { type: 'string', description: 'Id of an event.' } as const

export const valuesReply = {
  title: 'EventIds',
  type: 'object',
  required: ['first', 'last'],
  additionalProperties: false,
  properties: { first: id, last: id },
} as const

export const topicQuery = { type: 'object', additionalProperties: false, properties: { topic } } as const

export const noQuery = { type: 'object', additionalProperties: false, properties: {} } as const

const count = { type: 'integer', minimum: 0 } as const

export const connectionsReply = {
  type: 'object',
  title: 'Connections',
  required: ['streams', 'threads', 'topics', 'others'],
  additionalProperties: false,
  properties: {
    streams: count,
    threads: {
      type: 'array',
      items: {
        type: 'object',
        required: ['thread', 'streams'],
        additionalProperties: false,
        properties: { thread: count, streams: count },
      },
    },
    topics: {
      type: 'array',
      maxItems: MAX_LISTED_TOPICS,
      description: 'Topics with the largest numbers of streams, largest first.',
      items: {
        type: 'object',
        required: ['topic', 'streams'],
        additionalProperties: false,
        properties: { topic: { type: 'string' }, streams: count },
      },
    },
    others: {
      ...count,
      description: 'Streams of topics that are not listed; a stream of several topics counts for each.',
    },
  },
} as const

const eventIdHeader = {
  'event-id': { type: 'string', description: 'Id of the value, the same on every stream.' },
} as const

/** Describes a reply with a value as plain text and the id of its event. */
export const describeValueReply = (description: string) => ({
  description,
  headers: eventIdHeader,
  content: { 'text/plain': { schema: { type: 'string' } } },
})
