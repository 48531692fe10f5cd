import type { Budget } from '@influencer-stats/runtime/budget'
import { createBytesParser } from '@influencer-stats/runtime/bytes-parser'
import type { App } from '@influencer-stats/runtime/http'
import { buildChangeReplies } from '@influencer-stats/runtime/problem-schemas'
import type { FastifyRequest } from 'fastify'
import { parseBatch, type BadLine } from '../lines/parse-batch.ts'
import { changesExpiry } from '../core/change-lines.ts'
import { errors, writeErrors } from '../errors.ts'
import type { KvConfig } from '../settings.ts'
import type { KvStore } from '../store/store.ts'
import { readFlag, readQuery } from './read-query.ts'
import { bytes, durable, idempotency, withoutValidation } from './schemas.ts'
import { requireRevision, addIdempotencyKey } from './special-writes.ts'

const EXAMPLE_BODY = '{"op":"put","id":"greeting","value":"hello"}\n'
const EMPTY_BODY = Buffer.alloc(0)
const PARAMETERS = ['durable']

/** Rejects invalid parameters before the body is read. @throws Problem */
function checkParameters({ query }: FastifyRequest): void {
  readFlag(readQuery(query, PARAMETERS)('durable'), 'durable')
}

function toBatchError({ line, reason, tooLarge }: BadLine): Error {
  const detail = `line ${line}: ${reason}`
  if (tooLarge === 'key') return errors.KEY_TOO_LARGE(detail)
  if (tooLarge === 'batch') return errors.BATCH_TOO_LARGE(detail)
  return tooLarge === 'value' ? errors.VALUE_TOO_LARGE(detail) : errors.BATCH_LINE_INVALID(detail)
}

/** Registers the routes that apply many changes at once. */
export function registerBatchRoutes(app: App, store: KvStore, budget: Budget, config: KvConfig): void {
  const { valueLimit, batchLimit, batchLines } = config
  const limits = { maxValue: valueLimit, maxLines: batchLines }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', createBytesParser({ limit: batchLimit, tooLarge: errors.BATCH_TOO_LARGE }, budget))
  app.post(
    '/v0/batch',
    {
      ...withoutValidation,
      config: { cost: 10 },
      onRequest(request, _reply, done) {
        checkParameters(request)
        done()
      },
      schema: {
        tags: ['entities'],
        operationId: 'batch',
        summary: 'Apply several changes atomically',
        description:
          'One change per line: `{"op":"put","id":"k","value":"text"}`, `{"op":"put","id":"k","valueBase64":"AAE="}` or ' +
          '`{"op":"delete","id":"k"}`. The changes are applied in their order. A put may have a `ttl` (s) or an ' +
          '`expiresAt` (ms since 1970). `{"op":"expire","id":"k","ttl":60}` changes only the expiry of the value; ' +
          '`"expiresAt":null` removes the expiry. It has no effect on a key without a value.',
        querystring: { type: 'object', additionalProperties: false, properties: { durable } },
        headers: idempotency,
        body: { content: { 'application/x-ndjson': { schema: { ...bytes, examples: [EXAMPLE_BODY] } } } },
        response: {
          200: {
            type: 'object',
            title: 'Applied',
            required: ['applied'],
            additionalProperties: false,
            properties: { applied: { type: 'integer', description: 'Number of changes.' } },
          },
          ...buildChangeReplies(
            ...writeErrors,
            errors.BATCH_EMPTY,
            errors.BATCH_LINE_INVALID,
            errors.BATCH_TOO_LARGE,
            errors.VALUE_TOO_LARGE,
          ),
        },
      },
    },
    async (request, response) => {
      const isDurable = readFlag(readQuery(request.query, PARAMETERS)('durable'), 'durable')
      const ops = await parseBatch((request.body as Buffer | undefined) ?? EMPTY_BODY, limits)
      if (!Array.isArray(ops)) throw toBatchError(ops)
      if (ops.length === 0)
        throw errors.BATCH_EMPTY('body must have at least one line such as {"op":"delete","id":"k"}; received none')
      const deleted = ops.filter(({ type }) => type === 'del').length
      if (deleted > 0) request.audit = { change: 'delete', what: `${deleted} keys` }
      const applied = (outcome: string | undefined, sequence?: number) => {
        requireRevision(outcome)
        if (sequence !== undefined) response.header('sequence', sequence)
        return { applied: ops.length }
      }
      const isTimed = ops.some(changesExpiry)
      return store.write(addIdempotencyKey({ ops, durable: isDurable }, request.headers, isTimed), applied)
    },
  )
}
