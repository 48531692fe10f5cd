import { toStalenessHeaders } from '@influencer-stats/log/replica'
import { readPreconditions } from '@influencer-stats/runtime/conditions'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies, buildReadReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { conditionalErrors, errors } from '../errors.ts'
import type { KvStore } from '../store/store.ts'
import { readCount, readFlag, readQuery, readTime, readConsistency, readRequiredKey } from './read-query.ts'
import { durable, consistencyParameters, idempotency, key, time, ttl, withoutValidation } from './schemas.ts'
import { requireRevision, addIdempotencyKey } from './special-writes.ts'

const EXPIRY_URL = '/v0/entity/expiry'
const CHANGED_REPLY = {
  type: 'null',
  description: 'The expiry is changed or removed; the value retains its ETag.',
} as const
const CONDITIONS_TEXT =
  'The value and its ETag do not change. With `If-Match` or `If-None-Match` the expiry changes only if the condition is true, otherwise 412.'

const toNullableTime = (description: string) => ({ type: ['integer', 'null'], description })

/** Registers the routes that read and change the expiry of a value, without the value itself. */
export function registerExpiryRoutes(app: App, store: KvStore): void {
  const schema = (parameters: object) => ({
    tags: ['entities'],
    querystring: {
      type: 'object',
      required: ['id'],
      additionalProperties: false,
      properties: { id: key, ...parameters },
    },
  })

  app.get(
    EXPIRY_URL,
    {
      ...withoutValidation,
      exposeHeadRoute: false,
      schema: {
        ...schema(consistencyParameters),
        operationId: 'getExpiry',
        summary: 'Read the expiry of a value',
        response: {
          200: {
            type: 'object',
            title: 'Expiry',
            description: 'Both are null if the value does not expire.',
            required: ['expiresAt', 'remaining'],
            additionalProperties: false,
            properties: {
              expiresAt: toNullableTime('Expiry time (ms since 1970).'),
              remaining: toNullableTime(
                'Remaining time (ms), by the clock that determines the expiry: in a cluster that of the NATS servers',
              ),
            },
          },
          ...buildReadReplies(
            errors.QUERY_INVALID,
            errors.ENTITY_NOT_FOUND,
            errors.KEY_TOO_LARGE,
            errors.SEQUENCE_WAIT_TIMEOUT,
            errors.LOG_UNAVAILABLE,
          ),
        },
      },
    },
    async (request, reply) => {
      const parameter = readQuery(request.query, ['id', 'after', 'linearizable'])
      const id = readRequiredKey(parameter('id'), 'id').toString()
      const consistency = readConsistency(parameter)
      const { replica } = store
      if (consistency) await replica?.waitForConsistency(consistency)
      const headers = replica ? toStalenessHeaders(replica) : []
      for (let i = 0; i < headers.length; i += 2) reply.header(headers[i]!, headers[i + 1]!)
      const found = store.findTimed(id)
      if (!found) throw errors.ENTITY_NOT_FOUND()
      const { expiresAt } = found
      return expiresAt === undefined
        ? { expiresAt: null, remaining: null }
        : { expiresAt, remaining: Math.max(0, expiresAt - store.now()) }
    },
  )

  /**
   * Handles a PUT or a DELETE.
   * @param names parameters in addition to `id` and `durable`
   * @param toExpiry returns the new expiry: `ttl` (ms), `expiresAt` (ms since 1970), or neither to remove the expiry
   */
  async function changeExpiry(
    { headers, query }: FastifyRequest,
    reply: FastifyReply,
    names: readonly string[],
    toExpiry: (parameter: ReturnType<typeof readQuery>) => { ttl?: number; expiresAt?: number },
  ): Promise<void> {
    const parameter = readQuery(query, ['id', 'durable', ...names])
    const id = readRequiredKey(parameter('id'), 'id')
    const preconditions = readPreconditions(headers)
    const op = { type: 'expire', key: id, ...toExpiry(parameter) } as const
    const isDurable = readFlag(parameter('durable'), 'durable')
    // `match: '*'` refuses the write if the key has no value.
    const write = { ops: [op], condition: { match: '*', ...preconditions } as const, durable: isDurable }
    await store.write(addIdempotencyKey(write, headers, true), (outcome, sequence) => {
      if (sequence !== undefined) reply.header('sequence', sequence)
      // The reply is 404, not 412, if the client's own conditions cannot be the reason of the refusal.
      if (
        outcome === undefined &&
        preconditions?.match === undefined &&
        !(preconditions && store.findTimed(id.toString()))
      )
        throw errors.ENTITY_NOT_FOUND()
      requireRevision(outcome)
    })
    reply.code(204)
  }

  app.put(
    EXPIRY_URL,
    {
      ...withoutValidation,
      config: { isConditional: true },
      schema: {
        ...schema({
          ttl: { ...ttl, description: 'Time to expiry (s).', examples: [60] },
          expiresAt: time,
          durable,
        }),
        operationId: 'putExpiry',
        summary: 'Change the expiry of a value',
        description: `Exactly one of \`ttl\` and \`expiresAt\` is required. ${CONDITIONS_TEXT}`,
        headers: idempotency,
        response: { 204: CHANGED_REPLY, ...buildChangeReplies(...conditionalErrors, errors.ENTITY_NOT_FOUND) },
      },
    },
    (request, reply) =>
      changeExpiry(request, reply, ['ttl', 'expiresAt'], (parameter) => {
        const seconds = readCount(parameter('ttl'), 'ttl')
        const expiresAt = readTime(parameter('expiresAt'), 'expiresAt')
        if ((seconds === undefined) === (expiresAt === undefined))
          throw errors.QUERY_INVALID(
            `one of "ttl" and "expiresAt" must be given; received ${seconds === undefined ? 'neither' : 'both'}`,
          )
        return seconds === undefined ? { expiresAt: expiresAt! } : { ttl: seconds * 1_000 }
      }),
  )

  app.delete(
    EXPIRY_URL,
    {
      ...withoutValidation,
      config: { isConditional: true },
      schema: {
        ...schema({ durable }),
        operationId: 'deleteExpiry',
        summary: 'Remove the expiry of a value',
        description: CONDITIONS_TEXT,
        headers: idempotency,
        response: { 204: CHANGED_REPLY, ...buildChangeReplies(...conditionalErrors, errors.ENTITY_NOT_FOUND) },
      },
    },
    (request, reply) => changeExpiry(request, reply, [], () => ({})),
  )
}
