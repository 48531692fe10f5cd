import { errors as house } from '@influencer-stats/runtime/errors'
import type { App } from '@influencer-stats/runtime/http'
import { changeReplies, readReplies } from '@influencer-stats/runtime/replies'
import type { FastifyReply } from 'fastify'
import type { Broker } from '../broker/broker.ts'
import { eventId } from '../core/event-id.ts'
import { DEFAULT_TOPIC } from '../core/event.ts'
import { errors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { getPutQuery, postPutQuery, topicQuery, valueReply } from './schemas.ts'

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

/** Putting values and reading the current one. */
export function valueRoutes(app: App, broker: Broker, history: History, maxValue: number): void {
  const putReplies = {
    200: valueReply('The value, which all streams of the topic get.'),
    ...changeReplies(house.VALIDATION_FAILED, errors.VALUE_NOT_UTF8, errors.VALUE_TWICE, errors.FALLEN_BEHIND),
  }

  const answer = (reply: FastifyReply, seq: number, value: string) =>
    reply
      .headers({
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
        'event-id': eventId(history.epoch, seq),
      })
      .send(value)

  // A value may have any media type: it is text to us, whatever it is to who reads it.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.get(
    '/put',
    {
      config: { access: 'change' },
      exposeHeadRoute: false,
      schema: { tags, summary: 'Put a value', querystring: getPutQuery, response: putReplies },
    },
    async ({ query: { v, topic = DEFAULT_TOPIC } }, reply) => answer(reply, await broker.publish(topic, v), v),
  )

  app.post(
    '/put',
    {
      bodyLimit: maxValue,
      schema: {
        tags,
        summary: 'Put a value, `v` or the body',
        // Not as a body schema: the API document could not say that it may be absent.
        description: 'Without `v` the request body is the value: UTF-8 text of any media type.',
        querystring: postPutQuery,
        response: putReplies,
      },
    },
    async ({ query: { v, topic = DEFAULT_TOPIC }, body }, reply) => {
      const bytes = body as Buffer | undefined
      if (v !== undefined && bytes?.length) throw errors.VALUE_TWICE()
      const value = v ?? (bytes ? decode(bytes) : '')
      return answer(reply, await broker.publish(topic, value), value)
    },
  )

  app.get(
    '/value',
    {
      schema: {
        tags,
        summary: 'The current value of a topic',
        querystring: topicQuery,
        response: {
          200: valueReply('The value that was put last.'),
          ...readReplies(house.VALIDATION_FAILED, errors.VALUE_NOT_FOUND),
        },
      },
    },
    async ({ query: { topic = DEFAULT_TOPIC } }, reply) => {
      const event = history.current(topic)
      if (!event) throw errors.VALUE_NOT_FOUND()
      return answer(reply, event.seq, event.value)
    },
  )
}
