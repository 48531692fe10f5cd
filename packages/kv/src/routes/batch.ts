import type { Budget } from '@influencer-stats/runtime/budget'
import { bytesParser } from '@influencer-stats/runtime/bytes-parser'
import type { App } from '@influencer-stats/runtime/http'
import { changeReplies } from '@influencer-stats/runtime/replies'
import type { FastifyRequest } from 'fastify'
import { parseBatch, type BadLine } from '../core/batch.ts'
import { changesExpiry } from '../core/lines.ts'
import { errors } from '../errors.ts'
import type { KvConfig } from '../settings.ts'
import type { Store } from '../store/store.ts'
import { readFlag, readQuery } from './read-query.ts'
import { bytes, durable, idempotency, undocumentedChecks } from './schemas.ts'
import { revisionIn, withSpecial } from './special.ts'
import { writeErrors } from './write-errors.ts'

const EXAMPLE = '{"op":"put","id":"greeting","value":"hello"}\n'
const EMPTY = Buffer.alloc(0)
const PARAMETERS = ['durable']

/** Rejects options in the head of a request that a batch does not support, before the body is read. @throws Problem */
function checkHead({ query }: FastifyRequest): void {
  readFlag(readQuery(query, PARAMETERS)('durable'), 'durable')
}

function refuse({ line, reason, tooLarge }: BadLine): Error {
  const detail = `line ${line}: ${reason}`
  if (tooLarge === 'key') return errors.KEY_TOO_LARGE(detail)
  if (tooLarge === 'batch') return errors.BATCH_TOO_LARGE(detail)
  return tooLarge === 'value' ? errors.VALUE_TOO_LARGE(detail) : errors.BATCH_LINE_INVALID(detail)
}

/** Many changes at once. */
export function batchRoutes(app: App, store: Store, budget: Budget, config: KvConfig): void {
  const { valueLimit, batchLimit, batchLines } = config
  const limits = { maxValue: valueLimit, maxLines: batchLines }
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', bytesParser({ limit: batchLimit, tooLarge: errors.BATCH_TOO_LARGE }, budget))
  app.post(
    '/v0/batch',
    {
      ...undocumentedChecks,
      config: { cost: 10 },
      onRequest(request, _reply, done) {
        checkHead(request)
        done()
      },
      schema: {
        tags: ['entities'],
        operationId: 'batch',
        summary: 'Many changes, all or none',
        description:
          'A line each: `{"op":"put","id":"k","value":"text"}`, `{"op":"put","id":"k","valueBase64":"AAE="}` or ' +
          '`{"op":"delete","id":"k"}`. They take effect in their order. A put may have a `ttl` (s), or `expiresAt` ' +
          '(ms since 1970). `{"op":"expire","id":"k","ttl":60}` changes only when the value expires, with ' +
          '`"expiresAt":null` it stays; where there is no value this has no effect.',
        querystring: { type: 'object', additionalProperties: false, properties: { durable } },
        headers: idempotency,
        body: { content: { 'application/x-ndjson': { schema: { ...bytes, examples: [EXAMPLE] } } } },
        response: {
          200: {
            type: 'object',
            title: 'Applied',
            required: ['applied'],
            additionalProperties: false,
            properties: { applied: { type: 'integer', description: 'How many changes there were.' } },
          },
          ...changeReplies(
            ...writeErrors,
            errors.BATCH_EMPTY,
            errors.BATCH_LINE_INVALID,
            errors.BATCH_TOO_LARGE,
            errors.VALUE_TOO_LARGE,
          ),
        },
      },
    },
    async (request, reply) => {
      const isDurable = readFlag(readQuery(request.query, PARAMETERS)('durable'), 'durable')
      const ops = await parseBatch((request.body as Buffer | undefined) ?? EMPTY, limits)
      if (!Array.isArray(ops)) throw refuse(ops)
      if (ops.length === 0) throw errors.BATCH_EMPTY()
      const deleted = ops.filter(({ type }) => type === 'del').length
      if (deleted > 0) request.audit = { change: 'delete', what: `${deleted} keys` }
      const applied = (outcome: string | undefined, sequence?: number) => {
        revisionIn(outcome)
        if (sequence !== undefined) reply.header('sequence', sequence)
        return { applied: ops.length }
      }
      const isTimed = ops.some(changesExpiry)
      return store.write(withSpecial({ ops, durable: isDurable }, request.headers, isTimed), applied)
    },
  )
}
