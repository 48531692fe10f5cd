import { commonErrors as house } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type HotRequest, type HotRoute, type BufferedReply } from '@influencer-stats/runtime/hot-route'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { describeValidationError, skipBodyValidation, createValidator } from '@influencer-stats/runtime/validation'
import type { Broker } from '../broker/broker.ts'
import { eventId } from '../core/event-id.ts'
import { DEFAULT_TOPIC } from '../core/event.ts'
import type { Reader } from '../core/reader.ts'
import { HUB_PATH, isHubTopic } from '../core/topic-url.ts'
import { errors, logFaults } from '../errors.ts'
import type { History } from '../history/history.ts'
import type { Bearers } from '../tokens/bearers.ts'
import { insufficientScope, tokenFaults } from '../tokens/refusals.ts'
import { createTargetReader } from './read-target.ts'
import { getPutQuery, manyReply, manyValues, postPutQuery, topicQuery, valueReply, type ManyValue } from './schemas.ts'

const PUT = '/put'
const MANY = '/values'
const VALUE = '/value'
const JSON_TYPE = 'application/json'
// Of many values at once.
const MOST_BYTES = 1_048_576
// Of a topic that is the hub's own the path says so, whatever the hub's host.
const ANY_HUB = `http://localhost${HUB_PATH}`
const tags = ['values']
// A byte order mark is part of the value, as in the query.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws Problem `VALUE_NOT_UTF8` */
export function decodeText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw errors.VALUE_NOT_UTF8()
  }
}

const textReply = (history: History, seq: number, value: string): BufferedReply => ({
  status: 200,
  headers: ['x-content-type-options', 'nosniff', 'event-id', eventId(history.epoch, seq)],
  type: 'text/plain; charset=utf-8',
  body: value,
})

type PutQuery = { readonly v?: string; readonly topic?: string }

/** What takes and gives single values. */
export interface ValuesOptions {
  readonly broker: Broker
  readonly history: History
  readonly bearers: Bearers
  /** Who reads without a token of a kind that is judged here. */
  readonly reader: Reader
  /** Largest value of a POST (bytes). */
  readonly maxValue: number
}

/** @throws Problem where who asks may not put to one of the topics, or nobody may */
async function mayPut(topics: readonly string[], headers: HotRequest['headers'], bearers: Bearers): Promise<void> {
  if (topics.some((topic) => isHubTopic(topic, ANY_HUB))) throw errors.HUB_TOPIC()
  if (!bearers.judges(headers)) return
  const bearer = await bearers.of(headers, true)
  if (!topics.every((topic) => bearer?.publish.allows(topic))) throw insufficientScope()
}

/** Puts a value: as a parameter, or as a body. */
export function putRoutes({ broker, history, bearers, maxValue }: ValuesOptions): HotRoute[] {
  const { judges } = bearers
  const response = {
    200: valueReply('The value, which all streams of the topic get.'),
    ...buildChangeReplies(
      house.VALIDATION_FAILED,
      errors.HUB_TOPIC,
      errors.VALUE_NOT_UTF8,
      errors.VALUE_TWICE,
      ...tokenFaults,
      errors.INSUFFICIENT_SCOPE,
      errors.FALLEN_BEHIND,
      ...logFaults,
      ...storeErrors,
    ),
  }

  async function publish(
    topic: string = DEFAULT_TOPIC,
    value: string,
    { headers }: HotRequest,
  ): Promise<BufferedReply> {
    await mayPut([topic], headers, bearers)
    const [seq] = await broker.publish([[topic, value]])
    return textReply(history, seq!, value)
  }

  const get = defineHotRoute<PutQuery>({
    method: 'GET',
    url: PUT,
    access: 'change',
    head: false,
    schema: { tags, operationId: 'putValueByQuery', summary: 'Put a value', querystring: getPutQuery, response },
    match: createTargetReader(PUT, getPutQuery),
    read: ({ query }) => query as PutQuery,
    hasServiceToken: judges,
    answer: ({ topic, v }, request) => publish(topic, v!, request),
  })

  const post = defineHotRoute<PutQuery>({
    method: 'POST',
    url: PUT,
    // A value may have any media type: it is text to us, whatever it is to who reads it.
    body: { limit: maxValue, tooLarge: house.BODY_TOO_LARGE },
    schema: {
      tags,
      operationId: 'putValue',
      summary: 'Put a value, `v` or the body',
      // Not as a body schema: the API document could not say that it may be absent.
      description: 'Without `v` the request body is the value: UTF-8 text of any media type.',
      querystring: postPutQuery,
      response,
    },
    match: createTargetReader(PUT, postPutQuery),
    read: ({ query }) => query as PutQuery,
    hasServiceToken: judges,
    answer({ topic, v }, request) {
      const { body } = request
      if (v !== undefined && body.length > 0) throw errors.VALUE_TWICE()
      return publish(topic, v ?? decodeText(body), request)
    },
  })
  return [get, post]
}

/** Puts many values at once, all or none. */
export function putManyRoute({ broker, history, bearers }: ValuesOptions) {
  const fits = createValidator(manyValues, 'body')

  function readValues(body: Buffer): readonly ManyValue[] {
    let values: unknown
    try {
      values = JSON.parse(decodeText(body))
    } catch {
      throw house.BAD_JSON()
    }
    if (!fits(values)) throw house.VALIDATION_FAILED(describeValidationError(fits.errors![0]!, 'body'))
    return values as readonly ManyValue[]
  }

  return defineHotRoute<true>({
    method: 'POST',
    url: MANY,
    body: { limit: MOST_BYTES, tooLarge: house.BODY_TOO_LARGE, type: JSON_TYPE },
    validatorCompiler: skipBodyValidation,
    schema: {
      tags,
      operationId: 'putValues',
      summary: 'Put many values, all or none',
      description: 'They come one behind the other.',
      body: manyValues,
      response: {
        200: manyReply,
        ...buildChangeReplies(
          house.VALIDATION_FAILED,
          house.BAD_JSON,
          house.BODY_TOO_LARGE,
          house.UNSUPPORTED_MEDIA_TYPE,
          errors.HUB_TOPIC,
          ...tokenFaults,
          errors.INSUFFICIENT_SCOPE,
          errors.FALLEN_BEHIND,
          ...logFaults,
          ...storeErrors,
        ),
      },
    },
    match: (target) => (target === MANY ? true : undefined),
    read: () => true,
    hasServiceToken: bearers.judges,
    async answer(_asked, { body, headers }) {
      const values = readValues(body)
      const topics = values.map(({ topic = DEFAULT_TOPIC }) => topic)
      await mayPut(topics, headers, bearers)
      const seqs = await broker.publish(values.map(({ value }, i) => [topics[i]!, value]))
      const ids = { first: eventId(history.epoch, seqs[0]!), last: eventId(history.epoch, seqs.at(-1)!) }
      return { status: 200, headers: ['event-id', ids.last], type: JSON_TYPE, body: JSON.stringify(ids) }
    },
  })
}

/** Reads the current value. */
export function valueRoute({ history, bearers, reader }: ValuesOptions) {
  function valueOf(topic: string, { reader: by }: { readonly reader: Reader }): BufferedReply {
    const event = history.current(topic)
    if (!event || !by.sees(event)) throw errors.VALUE_NOT_FOUND()
    return textReply(history, event.seq, event.value)
  }

  return defineHotRoute<PutQuery>({
    method: 'GET',
    url: VALUE,
    schema: {
      tags,
      operationId: 'getValue',
      summary: 'The current value of a topic',
      querystring: topicQuery,
      response: {
        200: valueReply('The value that was put last.'),
        ...buildReadReplies(house.VALIDATION_FAILED, errors.VALUE_NOT_FOUND, ...tokenFaults),
      },
    },
    match: createTargetReader(VALUE, topicQuery),
    read: ({ query }) => query as PutQuery,
    hasServiceToken: bearers.judges,
    answer({ topic = DEFAULT_TOPIC }, { headers }) {
      const bearer = bearers.judges(headers) ? bearers.of(headers, false) : undefined
      return bearer ? bearer.then((known) => valueOf(topic, known)) : valueOf(topic, { reader })
    },
  })
}
