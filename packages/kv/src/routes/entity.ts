import { freshnessOf, type Wanted } from '@influencer-stats/log/replica'
import { holds, readCondition } from '@influencer-stats/runtime/conditions'
import {
  defineHotRoute,
  type HotBody,
  type HotRequest,
  type HotRoute,
  type Reply,
  type RequestHeaders,
} from '@influencer-stats/runtime/hot-route'
import { optionalBody } from '@influencer-stats/runtime/openapi'
import { PROBLEM_TYPE } from '@influencer-stats/runtime/problems'
import { changeReplies, readReplies } from '@influencer-stats/runtime/replies'
import { parseQuery, type Query } from '../core/query.ts'
import { etagOf, toEtag, valueOf } from '../core/stored.ts'
import { errors } from '../errors.ts'
import type { Store, Write } from '../store/store.ts'
import { prefersAsync } from './prefers-async.ts'
import { readCount, readFlag, readQuery, readWanted, requireKey } from './read-query.ts'
import { bytes, durable, freshness, idempotency, key, octets, preference, ttl, undocumentedChecks } from './schemas.ts'
import { revisionIn, withSpecial } from './special.ts'
import { conditionalErrors } from './write-errors.ts'

const URL = '/v0/entity'
const PREFIX = `${URL}?id=`
const tags = ['entities']
const CONDITIONS = 'With `If-Match` or `If-None-Match` (ETags or `*`) only if the value there meets it, else 412.'
const ABSENT = { stored: undefined, expiresAt: undefined }
const VALUE_HEADERS = ['x-content-type-options', 'nosniff']

const changeErrors = [...conditionalErrors, errors.VALUE_TOO_LARGE]

/** What a request names. */
interface Asked {
  readonly id: string
  readonly durable: boolean
  /** It expires after so long (s). */
  readonly ttl?: number
  /** What a read is to see, where it says so. */
  readonly wanted?: Wanted
}

// A miss is no fault: its reply is made once, and nothing is thrown.
const MISS: Reply = {
  status: 404,
  headers: [],
  type: PROBLEM_TYPE,
  body: errors.ENTITY_NOT_FOUND().body(),
  isKept: true,
}

/** One value: the hottest routes of the service. */
export function entityRoutes(store: Store, valueLimit: number): HotRoute[] {
  const body: HotBody = { limit: valueLimit, tooLarge: errors.VALUE_TOO_LARGE }
  const { replica } = store

  const get = defineHotRoute<Asked>({
    method: 'GET',
    url: URL,
    ...undocumentedChecks,
    schema: {
      tags,
      operationId: 'getEntity',
      summary: 'The value under a key',
      description:
        'With `If-None-Match`, 304 if the client has it; with `If-Match`, 412 if it is another. `expires-at` in the ' +
        'reply: when the value expires (ms since 1970), if it does.',
      querystring: {
        type: 'object',
        required: ['id'],
        additionalProperties: false,
        properties: { id: key, ...freshness },
      },
      response: {
        200: { description: 'The value.', content: octets },
        304: { type: 'null', description: 'The client has this value.' },
        ...readReplies(
          errors.QUERY_INVALID,
          errors.CONDITION_INVALID,
          errors.ENTITY_NOT_FOUND,
          errors.CONDITION_FAILED,
          errors.KEY_TOO_LARGE,
          errors.LOG_BEHIND,
          errors.LOG_UNAVAILABLE,
        ),
      },
    },
    match: (target) => matchTarget(target, READ),
    read: ({ query }) => readTarget(query as Query, READ),
    answer({ id, wanted }, { headers }) {
      if (wanted && replica) return replica.seen(wanted).then(() => valueReply(id, headers))
      return valueReply(id, headers)
    },
  })

  function valueReply(id: string, requested: RequestHeaders): Reply {
    // Before it is read: it is at least so new.
    const told = replica && freshnessOf(replica)
    const timed = store.isTimed() ? (store.findTimed(id) ?? ABSENT) : undefined
    const stored = timed ? timed.stored : store.find(id)
    const etag = stored && etagOf(stored)
    const { match } = readCondition(requested) ?? {}
    if (match !== undefined && !holds({ match }, etag)) throw errors.CONDITION_FAILED()
    if (stored === undefined) return told ? { ...MISS, headers: told, isKept: false } : MISS
    let headers = told ? [...VALUE_HEADERS, ...told] : VALUE_HEADERS
    if (timed?.expiresAt !== undefined) headers = [...headers, 'expires-at', String(timed.expiresAt)]
    return { status: 200, headers, etag, type: 'application/octet-stream', body: valueOf(stored) }
  }

  function writeOf(ops: Write['ops'], { durable: isDurable, ttl: seconds }: Asked, { headers }: HotRequest): Write {
    const write = { ops, durable: isDurable, condition: readCondition(headers) }
    if (seconds === undefined && headers['idempotency-key'] === undefined) return write
    return withSpecial(write, headers, seconds !== undefined)
  }

  const put = defineHotRoute<Asked>({
    method: 'PUT',
    url: URL,
    isOrdered: store.keepsOrder === true,
    isConditional: true,
    ...undocumentedChecks,
    body,
    schema: {
      tags,
      operationId: 'putEntity',
      summary: 'Put a value under a key',
      description: `Any bytes, none included. ${CONDITIONS}`,
      querystring: { ...changeQuery, properties: { ...changeQuery.properties, ttl } },
      headers: preference,
      body: { content: { 'application/octet-stream': { schema: { ...bytes, examples: ['hello'] } } } },
      ...optionalBody,
      response: {
        201: { type: 'null', description: 'It is there, under the ETag of the reply.' },
        202: { type: 'null', description: 'It will be there in a moment, as was preferred.' },
        ...changeReplies(...changeErrors),
      },
    },
    match: (target) => matchTarget(target, PUT),
    read: ({ query }) => readTarget(query as Query, PUT),
    answer(asked, request) {
      const put = { type: 'put', key: Buffer.from(asked.id), value: request.body } as const
      const op = asked.ttl === undefined ? put : { ...put, ttl: asked.ttl * 1_000 }
      const write = writeOf([op], asked, request)
      if (prefersAsync(write, request.headers) && store.take?.(write)) return TAKEN
      return store.write(write, toCreated)
    },
  })

  const remove = defineHotRoute<Asked>({
    method: 'DELETE',
    url: URL,
    isOrdered: store.keepsOrder === true,
    isConditional: true,
    ...undocumentedChecks,
    body,
    schema: {
      tags,
      operationId: 'deleteEntity',
      summary: 'Delete a key',
      description: CONDITIONS,
      querystring: changeQuery,
      headers: idempotency,
      response: {
        202: { type: 'null', description: 'It is not there any more, or never was.' },
        ...changeReplies(...changeErrors),
      },
    },
    match: (target) => matchTarget(target, CHANGE),
    read: ({ query }) => readTarget(query as Query, CHANGE),
    audits: ({ id }) => ({ change: 'delete', what: id }),
    answer(asked, request) {
      const op = { type: 'del', key: Buffer.from(asked.id) } as const
      return store.write(writeOf([op], asked, request), toDeleted)
    },
  })

  return [get, put, remove]
}

const TAKEN: Reply = { status: 202, headers: ['preference-applied', 'respond-async'], body: '', isKept: true }
const DELETED: Reply = { status: 202, headers: [], body: '', isKept: true }

/** @throws CONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
function toCreated(outcome: string | undefined, sequence?: number): Reply {
  const etag = ['etag', toEtag(revisionIn(outcome))]
  return { status: 201, headers: sequence === undefined ? etag : [...etag, 'sequence', String(sequence)], body: '' }
}

/** @throws CONDITION_FAILED, IDEMPOTENCY_KEY_REUSED */
function toDeleted(outcome: string | undefined, sequence?: number): Reply {
  revisionIn(outcome)
  return sequence === undefined ? DELETED : { status: 202, headers: ['sequence', String(sequence)], body: '' }
}

const changeQuery = {
  type: 'object',
  required: ['id'],
  additionalProperties: false,
  properties: { id: key, durable },
} as const

const READ = ['id', 'after', 'linearizable']
const CHANGE = ['id', 'durable']
const PUT = [...CHANGE, 'ttl']

// As long as it may be, and of nothing that has to be decoded.
const PLAIN_KEY = /^[\w.~-]{1,1024}$/

/** What a target names; nothing where that is for Fastify to refuse. */
function matchTarget(target: string, names: readonly string[]): Asked | undefined {
  if (!target.startsWith(PREFIX)) return undefined
  // Most keys: 0.5 us less than parsing.
  const text = target.slice(PREFIX.length)
  if (PLAIN_KEY.test(text)) return { id: text, durable: false }
  try {
    return readTarget(parseQuery(target.slice(URL.length + 1)), names)
  } catch {
    return undefined
  }
}

/** @throws QUERY_INVALID, KEY_TOO_LARGE */
function readTarget(query: Query, names: readonly string[]): Asked {
  const parameter = readQuery(query, names)
  const ttl = readCount(parameter('ttl'), 'ttl')
  return {
    id: requireKey(parameter('id'), 'id').toString(),
    durable: readFlag(parameter('durable'), 'durable'),
    wanted: readWanted(parameter),
    ...(ttl !== undefined && { ttl }),
  }
}
