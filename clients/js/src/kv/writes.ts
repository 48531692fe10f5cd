import { readJson } from '../core/reply-parts.ts'
import type { QueryFields, Requester, RequestParts } from '../core/requester.ts'
import { ignoreCodes } from '../core/service-error.ts'
import type { components } from '../generated/kv.ts'
import type { ConditionalOptions, KvChange, KvClient } from './types.ts'
import { toValueField } from './values.ts'

function toWriteParts(options: ConditionalOptions, query: QueryFields = {}, contentType?: string) {
  const { durable, idempotencyKey, ifMatch, ifNoneMatch, signal, timeout } = options
  return {
    query: { ...query, durable: durable || undefined },
    headers: {
      'content-type': contentType,
      'if-match': ifMatch,
      'if-none-match': ifNoneMatch,
      'idempotency-key': idempotencyKey === undefined ? undefined : `"${idempotencyKey}"`,
    },
    call: { signal, timeout },
  } satisfies RequestParts
}

/** Creates the methods that change values. */
export function createWrites({ call }: Requester) {
  const changeExpiry = async (method: 'PUT' | 'DELETE', parts: RequestParts): Promise<boolean> =>
    (await ignoreCodes(
      call(method, '/v0/entity/expiry', parts, () => true),
      'ENTITY_NOT_FOUND',
    )) ?? false

  return {
    put: (id, body, { ttl, ...options } = {}) =>
      call('PUT', '/v0/entity', { ...toWriteParts(options, { id, ttl }, 'application/octet-stream'), body }, (reply) =>
        reply.headers.get('etag')!,
      ),
    delete: (id, options = {}) => call('DELETE', '/v0/entity', toWriteParts(options, { id }), () => {}),
    expire: (id, ttl, options = {}) => changeExpiry('PUT', toWriteParts(options, { id, ttl })),
    persist: (id, options = {}) => changeExpiry('DELETE', toWriteParts(options, { id })),
    async batch(changes, options = {}) {
      if (changes.length === 0) return 0
      const body = changes.map((change) => `${JSON.stringify(toBatchLine(change))}\n`).join('')
      return call(
        'POST',
        '/v0/batch',
        { ...toWriteParts(options, {}, 'application/x-ndjson'), body },
        async (reply) => (await readJson<components['schemas']['Applied']>(reply)).applied,
      )
    },
  } satisfies Partial<KvClient>
}

function toBatchLine(change: KvChange): object {
  const { op, id } = change
  if (op === 'delete') return { op, id }
  // Without an expiry the line needs this field.
  if (op === 'expire') return { op, id, ...(change.ttl === null ? { expiresAt: null } : { ttl: change.ttl }) }
  return { op, id, ...toValueField(change.value), ttl: change.ttl, expiresAt: change.expiresAt }
}
