import { toStalenessHeaders, type ReadConsistency } from '@influencer-stats/log/replica'
import { isPreconditionMet, readPreconditions } from '@influencer-stats/runtime/conditions'
import {
  defineHotRoute,
  type HotBody,
  type HotRequest,
  type HotRoute,
  type BufferedReply,
  type RequestHeaders,
} from '@influencer-stats/runtime/hot-route'
import { optionalBody } from '@influencer-stats/runtime/openapi'
import { PROBLEM_TYPE } from '@influencer-stats/runtime/problems'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import { parseQuery, type KvQuery } from '../core/parse-query.ts'
import { getEtag, toEtag, getValue } from '../core/stored-value.ts'
import { conditionalErrors, errors } from '../errors.ts'
import type { KvStore, KvWrite } from '../store/store.ts'
import { readCount, readFlag, readQuery, readConsistency, readRequiredKey } from './read-query.ts'
import {
  bytes,
  durable,
  consistencyParameters,
  idempotency,
  key,
  octets,
  preference,
  ttl,
  withoutValidation,
} from './schemas.ts'
import { requireRevision, addIdempotencyKey, isAsyncPreferred } from './special-writes.ts'

const ENTITY_URL = '/v0/entity'
const TARGET_PREFIX = `${ENTITY_URL}?id=`
const tags = ['entities']
const CONDITIONS_TEXT =
  'With `If-Match` or `If-None-Match` (ETags or `*`) the value changes only if the condition is true, otherwise 412.'
const ABSENT_VALUE = { stored: undefined, expiresAt: undefined }
const VALUE_HEADERS = ['x-content-type-options', 'nosniff']

const changeErrors = [...conditionalErrors, errors.VALUE_TOO_LARGE]

/** Parameters of a request. */
interface EntityRequest {
  readonly id: string
  readonly durable: boolean
  /** Time to expiry (s). */
  readonly ttl?: number
  /** Consistency that a read requires, if any. */
  readonly consistency?: ReadConsistency
}

// Reply for a key without a value. It is built once, because creating and throwing an error for each request costs
// more.
const MISS_REPLY: BufferedReply = {
  status: 404,
  headers: [],
  type: PROBLEM_TYPE,
  body: errors.ENTITY_NOT_FOUND().toBody(),
  isReused: true,
}

/** Creates the hot routes of one value: GET (with HEAD), PUT and DELETE of `/v0/entity`. */
export function createEntityRoutes(store: KvStore, valueLimit: number): HotRoute[] {
  const body: HotBody = { limit: valueLimit, tooLarge: errors.VALUE_TOO_LARGE }
  const isOrdered = store.isOrdered === true
  const change = { url: ENTITY_URL, isOrdered, isConditional: true, ...withoutValidation, body }
  const { replica } = store

  const get = defineHotRoute<EntityRequest>({
    method: 'GET',
    url: ENTITY_URL,
    ...withoutValidation,
    schema: {
      tags,
      operationId: 'getEntity',
      summary: 'Read a value',
      description:
        'With `If-None-Match`, 304 if the client has the value; with `If-Match`, 412 if the value differs. The header ' +
        '`expires-at` has the expiry time (ms since 1970), if the value expires.',
      querystring: {
        type: 'object',
        required: ['id'],
        additionalProperties: false,
        properties: { id: key, ...consistencyParameters },
      },
      response: {
        200: { description: 'The value.', content: octets },
        304: { type: 'null', description: 'The client has this value.' },
        ...buildReadReplies(
          errors.QUERY_INVALID,
          errors.CONDITION_INVALID,
          errors.ENTITY_NOT_FOUND,
          errors.CONDITION_FAILED,
          errors.KEY_TOO_LARGE,
          errors.SEQUENCE_WAIT_TIMEOUT,
          errors.LOG_UNAVAILABLE,
        ),
      },
    },
    match: (target) => matchTarget(target, READ_PARAMETERS),
    read: ({ query }) => readTarget(query as KvQuery, READ_PARAMETERS),
    answer({ id, consistency }, { headers }) {
      if (consistency && replica)
        return replica.waitForConsistency(consistency).then(() => buildValueReply(id, headers))
      return buildValueReply(id, headers)
    },
  })

  function buildValueReply(id: string, headersIn: RequestHeaders): BufferedReply {
    // These headers are computed before the read, so that the value is at least as new as they state.
    const stalenessHeaders = replica && toStalenessHeaders(replica)
    const timed = store.isTimed() ? (store.findTimed(id) ?? ABSENT_VALUE) : undefined
    const stored = timed ? timed.stored : store.find(id)
    const etag = stored && getEtag(stored)
    const { match } = readPreconditions(headersIn) ?? {}
    if (match !== undefined && !isPreconditionMet({ match }, etag)) throw errors.CONDITION_FAILED()
    if (stored === undefined)
      return stalenessHeaders ? { ...MISS_REPLY, headers: stalenessHeaders, isReused: false } : MISS_REPLY
    let headers = stalenessHeaders ? [...VALUE_HEADERS, ...stalenessHeaders] : VALUE_HEADERS
    if (timed?.expiresAt !== undefined) headers = [...headers, 'expires-at', String(timed.expiresAt)]
    return { status: 200, headers, etag, type: 'application/octet-stream', body: getValue(stored) }
  }

  function toWrite(
    ops: KvWrite['ops'],
    { durable: isDurable, ttl: seconds }: EntityRequest,
    { headers }: HotRequest,
  ): KvWrite {
    const write = { ops, durable: isDurable, condition: readPreconditions(headers) }
    if (seconds === undefined && headers['idempotency-key'] === undefined) return write
    return addIdempotencyKey(write, headers, seconds !== undefined)
  }

  const put = defineHotRoute<EntityRequest>({
    method: 'PUT',
    ...change,
    schema: {
      tags,
      operationId: 'putEntity',
      summary: 'Write a value',
      description: `The value may be any bytes, or empty. ${CONDITIONS_TEXT}`,
      querystring: { ...changeQuery, properties: { ...changeQuery.properties, ttl } },
      headers: preference,
      body: { content: { 'application/octet-stream': { schema: { ...bytes, examples: ['hello'] } } } },
      ...optionalBody,
      response: {
        201: { type: 'null', description: 'The value is written and has the ETag of the reply.' },
        202: { type: 'null', description: 'The write is queued, as `Prefer: respond-async` requested.' },
        ...buildChangeReplies(...changeErrors),
      },
    },
    match: (target) => matchTarget(target, PUT_PARAMETERS),
    read: ({ query }) => readTarget(query as KvQuery, PUT_PARAMETERS),
    answer(entityRequest, request) {
      const put = { type: 'put', key: Buffer.from(entityRequest.id), value: request.body } as const
      const op = entityRequest.ttl === undefined ? put : { ...put, ttl: entityRequest.ttl * 1_000 }
      const write = toWrite([op], entityRequest, request)
      if (isAsyncPreferred(write, request.headers) && store.tryEnqueue?.(write)) return ACCEPTED_REPLY
      return store.write(write, toCreated)
    },
  })

  const remove = defineHotRoute<EntityRequest>({
    method: 'DELETE',
    ...change,
    schema: {
      tags,
      operationId: 'deleteEntity',
      summary: 'Delete a key',
      description: CONDITIONS_TEXT,
      querystring: changeQuery,
      headers: idempotency,
      response: {
        202: { type: 'null', description: 'The key has no value.' },
        ...buildChangeReplies(...changeErrors),
      },
    },
    match: (target) => matchTarget(target, CHANGE_PARAMETERS),
    read: ({ query }) => readTarget(query as KvQuery, CHANGE_PARAMETERS),
    getAuditChange: ({ id }) => ({ change: 'delete', what: id }),
    answer(entityRequest, request) {
      const op = { type: 'del', key: Buffer.from(entityRequest.id) } as const
      return store.write(toWrite([op], entityRequest, request), toDeleted)
    },
  })

  return [get, put, remove]
}

const ACCEPTED_REPLY: BufferedReply = {
  status: 202,
  headers: ['preference-applied', 'respond-async'],
  body: '',
  isReused: true,
}
const DELETED_REPLY: BufferedReply = { status: 202, headers: [], body: '', isReused: true }

/** @throws CONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
function toCreated(outcome: string | undefined, sequence?: number): BufferedReply {
  const etag = ['etag', toEtag(requireRevision(outcome))]
  return { status: 201, headers: sequence === undefined ? etag : [...etag, 'sequence', String(sequence)], body: '' }
}

/** @throws CONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
function toDeleted(outcome: string | undefined, sequence?: number): BufferedReply {
  requireRevision(outcome)
  return sequence === undefined ? DELETED_REPLY : { status: 202, headers: ['sequence', String(sequence)], body: '' }
}

const changeQuery = {
  type: 'object',
  required: ['id'],
  additionalProperties: false,
  properties: { id: key, durable },
} as const

const READ_PARAMETERS = ['id', 'after', 'linearizable']
const CHANGE_PARAMETERS = ['id', 'durable']
const PUT_PARAMETERS = [...CHANGE_PARAMETERS, 'ttl']

/** Keys of valid length that need no decoding. */
const PLAIN_KEY_PATTERN = /^[\w.~-]{1,1024}$/

/**
 * Returns the parameters of a request target; `undefined` if Fastify must read the target (`id` is not the first
 * parameter) or refuse it.
 */
function matchTarget(target: string, names: readonly string[]): EntityRequest | undefined {
  if (!target.startsWith(TARGET_PREFIX)) return undefined
  // The pattern usually matches, and takes 0.5 us less than the parser.
  const text = target.slice(TARGET_PREFIX.length)
  if (PLAIN_KEY_PATTERN.test(text)) return { id: text, durable: false }
  try {
    return readTarget(parseQuery(target.slice(ENTITY_URL.length + 1)), names)
  } catch {
    return undefined
  }
}

/** Reads the parameters of a query string. @throws QUERY_INVALID, KEY_TOO_LARGE */
function readTarget(query: KvQuery, names: readonly string[]): EntityRequest {
  const parameter = readQuery(query, names)
  const ttl = readCount(parameter('ttl'), 'ttl')
  return {
    id: readRequiredKey(parameter('id'), 'id').toString(),
    durable: readFlag(parameter('durable'), 'durable'),
    consistency: readConsistency(parameter),
    ...(ttl !== undefined && { ttl }),
  }
}
