import { commonErrors } from '@influencer-stats/runtime/errors'
import { defineHotRoute, type HotRequest, type HotRoute, type BufferedReply } from '@influencer-stats/runtime/hot-route'
import { optionalBody } from '@influencer-stats/runtime/openapi'
import { buildChangeReplies, buildReadReplies, storeErrors } from '@influencer-stats/runtime/problem-schemas'
import { describeJsonError } from '@influencer-stats/runtime/received-value'
import { describeValidationError } from '@influencer-stats/runtime/validation-errors'
import { skipBodyValidation, createValidator } from '@influencer-stats/runtime/validation'
import type { Broker } from '../broker/broker.ts'
import { formatEventId } from '../core/event-id.ts'
import { DEFAULT_TOPIC } from '../core/event.ts'
import { HUB_PATH, isHubTopic } from '../core/patterns/topic-url.ts'
import { errors, logWriteErrors } from '../errors.ts'
import type { History } from '../history/history.ts'
import { withGrant, type Grant, type Permissions } from '../tokens/permissions.ts'
import { createScopeError, tokenErrors } from '../tokens/token-errors.ts'
import { createTargetReader } from './target-reader.ts'
import {
  getPutQuery,
  valuesReply,
  valuesBody,
  postPutQuery,
  topicQuery,
  describeValueReply,
  type PutValue,
} from './schemas.ts'

const PUT_PATH = '/put'
const VALUES_PATH = '/values'
const VALUE_PATH = '/value'
const JSON_TYPE = 'application/json'
// Maximum body of `/values` (bytes).
const MAX_VALUES_BYTES = 1_048_576
// Base URL for the check of reserved topics. Only the path of a topic matters for it, not the host.
const HUB_BASE_URL = `http://localhost${HUB_PATH}`
const tags = ['values']
const publishErrors = [
  errors.HUB_TOPIC,
  ...tokenErrors,
  errors.INSUFFICIENT_SCOPE,
  errors.FANOUT_BACKLOG_FULL,
  ...logWriteErrors,
  ...storeErrors,
]
// A byte order mark is part of the value, as in the query.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes a body. @throws Problem `VALUE_NOT_UTF8` */
export function decodeText(body: Buffer): string {
  try {
    return utf8.decode(body)
  } catch {
    throw errors.VALUE_NOT_UTF8('body must be UTF-8; received other bytes')
  }
}

const createTextReply = (history: History, seq: number, value: string): BufferedReply => ({
  status: 200,
  headers: ['x-content-type-options', 'nosniff', 'event-id', formatEventId(history.epoch, seq)],
  type: 'text/plain; charset=utf-8',
  body: value,
})

type PutQuery = { readonly v?: string; readonly topic?: string }

/** Options of the value routes. */
export interface ValuesOptions {
  readonly broker: Broker
  readonly history: History
  readonly permissions: Permissions
  /** Maximum size of a value in a body (bytes). */
  readonly maxValue: number
}

/**
 * Checks that the client may publish to all topics.
 * @throws Problem `HUB_TOPIC`, `INSUFFICIENT_SCOPE`, and the errors of `Permissions.authorize`
 */
async function checkPublish(
  topics: readonly string[],
  headers: HotRequest['headers'],
  permissions: Permissions,
): Promise<void> {
  if (topics.some((topic) => isHubTopic(topic, HUB_BASE_URL)))
    throw errors.HUB_TOPIC(`topic must not be ${HUB_PATH} or below; received a topic of the hub`)
  const { publish } = await permissions.authorize('publish', headers)
  if (!topics.every((topic) => publish.isAllowed(topic))) throw createScopeError()
}

/** Creates the routes of `/put`, which publish one value: the parameter `v`, or the body. */
export function createPutRoutes({ broker, history, permissions, maxValue }: ValuesOptions): HotRoute[] {
  const { hasServiceToken } = permissions
  const response = {
    200: describeValueReply('The value that all streams of the topic receive.'),
    ...buildChangeReplies(
      commonErrors.VALIDATION_FAILED,
      errors.VALUE_NOT_UTF8,
      errors.DUPLICATE_VALUE,
      ...publishErrors,
    ),
  }

  async function publish(
    topic: string = DEFAULT_TOPIC,
    value: string,
    { headers }: HotRequest,
  ): Promise<BufferedReply> {
    await checkPublish([topic], headers, permissions)
    const [seq] = await broker.publish([[topic, value]])
    return createTextReply(history, seq!, value)
  }

  const get = defineHotRoute<PutQuery>({
    method: 'GET',
    url: PUT_PATH,
    access: 'change',
    head: false,
    schema: { tags, operationId: 'putValueByQuery', summary: 'Publish a value', querystring: getPutQuery, response },
    match: createTargetReader(PUT_PATH, getPutQuery),
    read: ({ query }) => query as PutQuery,
    hasServiceToken,
    answer: ({ topic, v }, request) => publish(topic, v!, request),
  })

  const post = defineHotRoute<PutQuery>({
    method: 'POST',
    url: PUT_PATH,
    // The body may have any media type, because the service treats every value as text.
    body: { limit: maxValue, tooLarge: commonErrors.BODY_TOO_LARGE },
    validatorCompiler: skipBodyValidation,
    schema: {
      tags,
      operationId: 'putValue',
      summary: 'Publish a value from `v` or the body',
      description: 'Without `v`, the request body is the value: UTF-8 text of any media type.',
      querystring: postPutQuery,
      body: { content: { 'text/plain': { schema: { type: 'string', examples: ['42'] } } } },
      ...optionalBody,
      response,
    },
    match: createTargetReader(PUT_PATH, postPutQuery),
    read: ({ query }) => query as PutQuery,
    hasServiceToken,
    answer({ topic, v }, request) {
      const { body } = request
      if (v !== undefined && body.length > 0)
        throw errors.DUPLICATE_VALUE('either v or a body must be given; received both')
      return publish(topic, v ?? decodeText(body), request)
    },
  })
  return [get, post]
}

/** Creates the route that publishes many values at once, all or none. */
export function createPutValuesRoute({ broker, history, permissions }: ValuesOptions) {
  const validate = createValidator(valuesBody, 'body')

  function readValues(body: Buffer): readonly PutValue[] {
    const text = decodeText(body)
    let values: unknown
    try {
      values = JSON.parse(text)
    } catch {
      throw commonErrors.BAD_JSON(describeJsonError(text, 'body'))
    }
    if (!validate(values)) throw commonErrors.VALIDATION_FAILED(describeValidationError(validate.errors!, 'body'))
    return values as readonly PutValue[]
  }

  return defineHotRoute<true>({
    method: 'POST',
    url: VALUES_PATH,
    body: { limit: MAX_VALUES_BYTES, tooLarge: commonErrors.BODY_TOO_LARGE, type: JSON_TYPE },
    validatorCompiler: skipBodyValidation,
    schema: {
      tags,
      operationId: 'putValues',
      summary: 'Publish several values atomically',
      description: 'Streams receive them consecutively.',
      body: valuesBody,
      response: {
        200: valuesReply,
        ...buildChangeReplies(
          commonErrors.VALIDATION_FAILED,
          commonErrors.BAD_JSON,
          commonErrors.BODY_TOO_LARGE,
          commonErrors.UNSUPPORTED_MEDIA_TYPE,
          ...publishErrors,
        ),
      },
    },
    match: (target) => (target === VALUES_PATH ? true : undefined),
    read: () => true,
    hasServiceToken: permissions.hasServiceToken,
    async answer(_query, { body, headers }) {
      const values = readValues(body)
      const topics = values.map(({ topic = DEFAULT_TOPIC }) => topic)
      await checkPublish(topics, headers, permissions)
      const seqs = await broker.publish(values.map(({ value }, i) => [topics[i]!, value]))
      const ids = { first: formatEventId(history.epoch, seqs[0]!), last: formatEventId(history.epoch, seqs.at(-1)!) }
      return { status: 200, headers: ['event-id', ids.last], type: JSON_TYPE, body: JSON.stringify(ids) }
    },
  })
}

/** Creates the route that returns the current value. */
export function createValueRoute({ broker, history, permissions }: ValuesOptions) {
  function createValueReply(topic: string, { reader }: Grant): BufferedReply {
    const event = history.getCurrent(topic)
    if (!event || !reader.canRead(event)) throw errors.VALUE_NOT_FOUND()
    return createTextReply(history, event.seq, event.value)
  }

  return defineHotRoute<PutQuery>({
    method: 'GET',
    url: VALUE_PATH,
    schema: {
      tags,
      operationId: 'getValue',
      summary: 'Read the current value of a topic',
      querystring: topicQuery,
      response: {
        200: describeValueReply('The last published value.'),
        ...buildReadReplies(commonErrors.VALIDATION_FAILED, errors.VALUE_NOT_FOUND, ...tokenErrors),
      },
    },
    match: createTargetReader(VALUE_PATH, topicQuery),
    read: ({ query }) => query as PutQuery,
    hasServiceToken: permissions.hasServiceToken,
    answer({ topic = DEFAULT_TOPIC }, { headers }) {
      const grant = permissions.authorize('read', headers)
      // A client that reads after its put may reach another thread, which must not answer with an older value.
      const received = broker.receiveAnswered()
      if (!received) return withGrant(grant, (access) => createValueReply(topic, access))
      return Promise.all([grant, received]).then(([access]) => createValueReply(topic, access))
    },
  })
}
