import { ignoreErrors } from '@influencer-stats/runtime/service-client'
import { toOpLine, type Op } from '../core/change-lines.ts'
import type { KvRequester } from './requester.ts'
import type { ConditionalOptions, KvChange, KvClient, WriteOptions } from './types.ts'

const toDurableQuery = ({ durable }: WriteOptions) => ({ durable: durable ? 'true' : undefined })

const toIdempotencyHeader = ({ idempotencyKey: key }: WriteOptions) => ({
  'idempotency-key': key === undefined ? key : `"${key}"`,
})

const toWriteHeaders = ({ ifMatch, ifNoneMatch, ...options }: ConditionalOptions) => ({
  'if-match': ifMatch,
  'if-none-match': ifNoneMatch,
  ...toIdempotencyHeader(options),
})

/** Creates the methods of a client that change values. */
export function createWrites({ send }: Pick<KvRequester, 'send'>) {
  async function changeExpiry(
    method: 'PUT' | 'DELETE',
    query: Record<string, string>,
    options: ConditionalOptions,
  ): Promise<boolean> {
    const reply = await ignoreErrors(
      send(method, '/v0/entity/expiry', {
        query: { ...query, ...toDurableQuery(options) },
        headers: toWriteHeaders(options),
      }),
      'ENTITY_NOT_FOUND',
    )
    await reply?.body.dump()
    return reply !== undefined
  }

  const applyBatchLines: KvClient['applyBatchLines'] = async (body, options = {}) => {
    const reply = await send('POST', '/v0/batch', {
      query: toDurableQuery(options),
      headers: { 'content-type': 'application/x-ndjson', ...toIdempotencyHeader(options) },
      body,
    })
    await reply.body.dump()
  }

  return {
    async put(id, body, options = {}) {
      const reply = await send('PUT', '/v0/entity', {
        query: { id, ...toDurableQuery(options), ttl: options.ttl?.toString() },
        headers: { 'content-type': 'application/octet-stream', ...toWriteHeaders(options) },
        body,
      })
      await reply.body.dump()
      return String(reply.headers.etag)
    },
    async delete(id, options = {}) {
      const query = { id, ...toDurableQuery(options) }
      const { body } = await send('DELETE', '/v0/entity', { query, headers: toWriteHeaders(options) })
      await body.dump()
    },
    expire: (id, ttl, options = {}) => changeExpiry('PUT', { id, ttl: String(ttl) }, options),
    persist: (id, options = {}) => changeExpiry('DELETE', { id }, options),
    async batch(changes, options) {
      if (changes.length === 0) return
      await applyBatchLines(changes.map((change) => toOpLine(toOp(change))).join(''), options)
    },
    applyBatchLines,
    async setWritesStopped(isStopped) {
      const { body } = await send('PUT', '/v0/writes', { query: { stopped: String(isStopped) } })
      await body.dump()
    },
  } satisfies Partial<KvClient>
}

const toBytes = (value: string | Uint8Array) =>
  typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.buffer, value.byteOffset, value.byteLength)

function toOp(change: KvChange): Op {
  const key = Buffer.from(change.id)
  if (change.op === 'delete') return { type: 'del', key }
  if (change.op === 'expire') return { type: 'expire', key, ...(change.ttl !== null && { ttl: change.ttl * 1_000 }) }
  const { value, ttl } = change
  return { type: 'put', key, value: toBytes(value), ...(ttl !== undefined && { ttl: ttl * 1_000 }) }
}
