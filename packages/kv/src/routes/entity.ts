import { hookHeaders } from '@influencer-stats/runtime/hijack'
import { since, type App } from '@influencer-stats/runtime/http'
import { optionalBody } from '@influencer-stats/runtime/openapi'
import { changeReplies, readReplies } from '@influencer-stats/runtime/replies'
import type { CommonSettings } from '@influencer-stats/runtime/settings'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { etagOf, holds, matchesWeakly, parseTags } from '../core/condition.ts'
import type { Op } from '../core/lines.ts'
import { errors } from '../errors.ts'
import { writeMiss, writeStored, writeValue } from '../server/write.ts'
import type { Store } from '../store/store.ts'
import { readCondition } from './read-condition.ts'
import { readFlag, readQuery, requireKey } from './read-query.ts'
import { durable, key, octets, undocumentedChecks } from './schemas.ts'

const URL = '/v0/entity'
const EMPTY = Buffer.alloc(0)
const READ = ['id']
const CHANGE = ['id', 'durable']
const tags = ['entities']
const CONDITIONS = 'With `If-Match` or `If-None-Match` (ETags or `*`) only if the value there meets it, else 412.'

const changeErrors = [
  errors.QUERY_INVALID,
  errors.CONDITION_INVALID,
  errors.CONDITION_FAILED,
  errors.KEY_TOO_LARGE,
  errors.WRITE_QUEUE_FULL,
  errors.STORE_FAILED,
  errors.DISK_FULL,
]

/** One value: the hottest routes of the service, past Fastify's serialisation. */
export function entityRoutes(app: App, store: Store, config: Pick<CommonSettings, 'corsOrigins'>): void {
  const headersOf = hookHeaders(config)

  app.get(
    URL,
    {
      ...undocumentedChecks,
      config: { selfMeasured: true },
      schema: {
        tags,
        summary: 'The value under a key',
        description: 'With `If-None-Match`, 304 if the client has it; with `If-Match`, 412 if it is another.',
        querystring: { type: 'object', required: ['id'], additionalProperties: false, properties: { id: key } },
        response: {
          200: { description: 'The value.', content: octets },
          304: { type: 'null', description: 'The client has this value.' },
          ...readReplies(
            errors.QUERY_INVALID,
            errors.CONDITION_INVALID,
            errors.ENTITY_NOT_FOUND,
            errors.CONDITION_FAILED,
            errors.KEY_TOO_LARGE,
          ),
        },
      },
    },
    (request, reply) => {
      const id = requireKey(readQuery(request.query, READ)('id'), 'id')
      finish(request, reply, sendValue(request, reply, store.get(id)))
    },
  )

  app.put(
    URL,
    {
      ...undocumentedChecks,
      config: { selfMeasured: true },
      schema: {
        tags,
        summary: 'Put a value under a key',
        description: `Any bytes, none included. ${CONDITIONS}`,
        querystring: {
          type: 'object',
          required: ['id'],
          additionalProperties: false,
          properties: { id: key, durable },
        },
        body: { content: octets },
        ...optionalBody,
        response: {
          201: { type: 'null', description: 'It is there, under the ETag of the reply.' },
          ...changeReplies(errors.VALUE_TOO_LARGE, ...changeErrors),
        },
      },
    },
    (request, reply) => {
      const value = (request.body as Buffer | undefined) ?? EMPTY
      return change(request, reply, { type: 'put', value }, (headers) => writeStored(reply.raw, headers, value))
    },
  )

  app.delete(
    URL,
    {
      ...undocumentedChecks,
      config: { selfMeasured: true },
      schema: {
        tags,
        summary: 'Delete a key',
        description: CONDITIONS,
        querystring: {
          type: 'object',
          required: ['id'],
          additionalProperties: false,
          properties: { id: key, durable },
        },
        response: {
          202: { type: 'null', description: 'It is not there any more, or never was.' },
          ...changeReplies(errors.VALUE_TOO_LARGE, ...changeErrors),
        },
      },
    },
    (request, reply) =>
      change(request, reply, { type: 'del' }, (headers) => {
        reply.raw.writeHead(202, [...headers, 'content-length', '0']).end()
        return 202
      }),
  )
  const figures = Object.fromEntries(
    ['GET', 'HEAD', 'PUT', 'DELETE'].map((method) => [method, app.figuresOf(method, URL)]),
  )

  function finish(request: FastifyRequest, reply: FastifyReply, status: number): void {
    reply.hijack()
    figures[request.method]!.observe(status, since(request))
  }

  /** Sends what was found. Returns the status. @throws CONDITION_INVALID, CONDITION_FAILED */
  function sendValue({ headers, method }: FastifyRequest, reply: FastifyReply, value: Buffer | undefined): number {
    const { raw } = reply
    const own = headersOf(reply)
    const match = headers['if-match']
    if (match !== undefined && !holds(readCondition({ 'if-match': match })!, value)) throw errors.CONDITION_FAILED()
    const isHead = method === 'HEAD'
    if (!value) return writeMiss(raw, own, isHead)
    const etag = etagOf(value)
    const known = headers['if-none-match']
    if (known !== undefined) {
      const parsed = parseTags(known)
      if (!parsed) throw errors.CONDITION_INVALID()
      if (matchesWeakly(parsed, etag)) {
        raw.writeHead(304, [...own, 'etag', etag]).end()
        return 304
      }
    }
    return writeValue(raw, own, value, etag, isHead)
  }

  /** @throws QUERY_INVALID, KEY_TOO_LARGE, CONDITION_INVALID, CONDITION_FAILED, and what the store throws */
  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    what: { type: 'put'; value: Buffer } | { type: 'del' },
    answer: (headers: readonly string[]) => number,
  ): Promise<void> {
    const parameter = readQuery(request.query, CHANGE)
    const op: Op = { ...what, key: requireKey(parameter('id'), 'id') }
    const write = {
      ops: [op],
      durable: readFlag(parameter('durable'), 'durable'),
      condition: readCondition(request.headers),
    }
    if (!(await store.write(write))) throw errors.CONDITION_FAILED()
    finish(request, reply, answer(headersOf(reply)))
  }
}
