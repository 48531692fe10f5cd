import { errors as house } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type HotRoute, type Reply } from '@influencer-stats/runtime/hot-route'
import { changeReplies, readReplies, storeFaults } from '@influencer-stats/runtime/replies'
import type { Broker } from '../broker/broker.ts'
import { eventId } from '../core/event-id.ts'
import { DEFAULT_TOPIC } from '../core/event.ts'
import { errors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { createTargetReader } from './read-target.ts'
import { getPutQuery, postPutQuery, topicQuery, valueReply } from './schemas.ts'

const PUT = '/put'
const VALUE = '/value'
const tags = ['values']
// A byte order mark is part of the value, as in the query.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw errors.VALUE_NOT_UTF8()
  }
}

const textReply = (history: History, seq: number, value: string): Reply => ({
  status: 200,
  headers: ['x-content-type-options', 'nosniff', 'event-id', eventId(history.epoch, seq)],
  type: 'text/plain; charset=utf-8',
  body: value,
})

type PutQuery = { readonly v?: string; readonly topic?: string }

/** Puts a value: as a parameter, or as a body. */
export function putRoutes(broker: Broker, history: History, maxValue: number): HotRoute[] {
  const response = {
    200: valueReply('The value, which all streams of the topic get.'),
    ...changeReplies(
      house.VALIDATION_FAILED,
      errors.VALUE_NOT_UTF8,
      errors.VALUE_TWICE,
      errors.FALLEN_BEHIND,
      ...storeFaults,
    ),
  }

  async function publish(topic: string | undefined, value: string): Promise<Reply> {
    return textReply(history, await broker.publish(topic ?? DEFAULT_TOPIC, value), value)
  }

  const get = defineHotRoute<PutQuery>({
    method: 'GET',
    url: PUT,
    access: 'change',
    head: false,
    schema: { tags, summary: 'Put a value', querystring: getPutQuery, response },
    match: createTargetReader(PUT, getPutQuery),
    read: ({ query }) => query as PutQuery,
    answer: ({ topic, v }) => publish(topic, v!),
  })

  const post = defineHotRoute<PutQuery>({
    method: 'POST',
    url: PUT,
    // A value may have any media type: it is text to us, whatever it is to who reads it.
    body: { limit: maxValue, tooLarge: house.BODY_TOO_LARGE },
    schema: {
      tags,
      summary: 'Put a value, `v` or the body',
      // Not as a body schema: the API document could not say that it may be absent.
      description: 'Without `v` the request body is the value: UTF-8 text of any media type.',
      querystring: postPutQuery,
      response,
    },
    match: createTargetReader(PUT, postPutQuery),
    read: ({ query }) => query as PutQuery,
    answer({ topic, v }, { body }) {
      if (v !== undefined && body.length > 0) throw errors.VALUE_TWICE()
      return publish(topic, v ?? decode(body))
    },
  })
  return [get, post]
}

/** Reads the current value. */
export function valueRoute(history: History) {
  return defineHotRoute<PutQuery>({
    method: 'GET',
    url: VALUE,
    schema: {
      tags,
      summary: 'The current value of a topic',
      querystring: topicQuery,
      response: {
        200: valueReply('The value that was put last.'),
        ...readReplies(house.VALIDATION_FAILED, errors.VALUE_NOT_FOUND),
      },
    },
    match: createTargetReader(VALUE, topicQuery),
    read: ({ query }) => query as PutQuery,
    answer({ topic = DEFAULT_TOPIC }) {
      const event = history.current(topic)
      if (!event) throw errors.VALUE_NOT_FOUND()
      return textReply(history, event.seq, event.value)
    },
  })
}
