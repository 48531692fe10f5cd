import { SERVERS } from '@influencer-stats/runtime/settings'
import { expectAllRefused, expectRefusals, type Refusal } from '@influencer-stats/runtime/testing/refusals'
import { expect, it, onTestFinished } from 'vitest'
import { startKv } from './support/kv.ts'

const query = (method: string, target: string, ...detail: string[]): Refusal => ({
  request: [method, target],
  code: 'QUERY_INVALID',
  detail,
})
const line = (text: string | object, ...detail: string[]): Refusal => ({
  request: ['POST', '/v0/batch', `{"op":"delete","id":"a"}\n${typeof text === 'string' ? text : JSON.stringify(text)}`],
  code: 'BATCH_LINE_INVALID',
  detail: ['line 2: ', ...detail],
})
const keys = (body: unknown, ...detail: string[]): Refusal => ({
  request: ['POST', '/v0/entities/get', body],
  code: 'KEYS_INVALID',
  detail,
})
const longKey = 'k'.repeat(1_025)
const BOOLEAN = 'must be true or false; received "yes"'
const COUNT = 'must be a whole number from 1 to 999999999; received "0"'

const refusals: Refusal[] = [
  query('GET', '/v0/entity', '"id"', '1 to 1024 bytes', 'received no value'),
  { request: ['GET', '/node'], status: 404, code: 'NOT_FOUND', detail: ['only a node of a cluster (--cluster)'] },
  query('GET', '/v0/entity?id=a&ttl=1', '"ttl" is an unknown parameter', 'known: id, after, linearizable'),
  query('GET', '/v0/entity?id=a&linearizable=yes', `"linearizable" ${BOOLEAN}`),
  query('GET', '/v0/entity?id=a&after=-1', '"after" must be a sequence from 0 to 999999999999999; received "-1"'),
  query('GET', '/v0/entity?id=a&id=b', '"id" must be given once; received twice'),
  query('GET', '/v0/entity?id=', '"id" must have a value', 'received no value'),
  query('GET', '/v0/entity?id=%zz', '"id" must be percent-encoded UTF-8 such as a%20b; received "%zz"'),
  query('GET', '/v0/entity?token=hunter2-secret%zz', '"token"', 'not shown'),
  query('GET', '/v0/entity?token=hunter2-secret', '"token" is an unknown parameter'),
  query('PUT', '/v0/entity?id=a&durable=yes', `"durable" ${BOOLEAN}`),
  query('PUT', '/v0/entity?id=a&ttl=0', `"ttl" ${COUNT}`),
  query('DELETE', '/v0/entity?id=a&ttl=1', '"ttl" is an unknown parameter', 'known: id, durable'),
  {
    request: ['GET', `/v0/entity?id=${longKey}`],
    status: 413,
    code: 'KEY_TOO_LARGE',
    detail: ['"id"', '1024', 'received 1025'],
  },
  {
    request: ['PUT', '/v0/entity?id=a', 'v', { 'if-match': 'x' }],
    code: 'CONDITION_INVALID',
    detail: ['If-Match must be * or entity tags such as "a", "b"; received "x"'],
  },
  {
    request: ['PUT', '/v0/entity?id=a', 'v', { 'idempotency-key': 'a b hunter2-secret' }],
    code: 'IDEMPOTENCY_KEY_INVALID',
    detail: ['Idempotency-Key must be 1 to 255 visible characters', 'received 18 characters'],
  },
  query('PUT', '/v0/writes', '"stopped" must be true or false; received no value'),
  query('PUT', '/v0/writes?stopped=yes', `"stopped" ${BOOLEAN}`),
  query('GET', '/v0/entity/expiry', '"id"', 'received no value'),
  query('PUT', '/v0/entity/expiry?id=a', 'one of "ttl" and "expiresAt" must be given; received neither'),
  query('PUT', '/v0/entity/expiry?id=a&ttl=1&expiresAt=5', 'received both'),
  query(
    'PUT',
    '/v0/entity/expiry?id=a&expiresAt=x',
    '"expiresAt" must be a time in ms since 1970, from 1 to',
    'received "x"',
  ),
  query('DELETE', '/v0/entity/expiry?id=a&durable=yes', `"durable" ${BOOLEAN}`),
  query('GET', '/v0/entities?limit=0', `"limit" ${COUNT}`),
  query(
    'GET',
    '/v0/entities?prefix=a&end=b',
    '"prefix" must come without "start" and "end"',
    'received "prefix" and "end"',
  ),
  query('GET', '/v0/entities?from=a', '"from" is an unknown parameter', 'prefix, start, end, cursor, limit'),
  query('GET', '/v0/watch?after=x', '"after" must be a sequence', 'received "x"'),
  query('GET', '/v0/watch?limit=1', '"limit" is an unknown parameter; known: prefix, start, end, after, progress'),
  query('POST', '/v0/batch?atomic=yes', '"atomic" is an unknown parameter; known: durable'),
  {
    request: ['POST', '/v0/batch', '\n'],
    code: 'BATCH_EMPTY',
    detail: ['body', 'at least one line such as', 'received none'],
  },
  line('{"op":hunter2-secret', 'must be valid JSON', 'received 20 characters'),
  line('[1]', 'must be an object; received [1]'),
  line({ op: 'set', id: 'a' }, '"op" must be one of put, delete, expire; received "set"'),
  line({ op: 'put', key: 'a' }, 'a put has the unknown field "key"; known: op, id, value, valueBase64, ttl, expiresAt'),
  line({ op: 'delete', id: 7 }, '"id" must be a string of at least 1 whole character; received 7'),
  line({ op: 'put', id: 'a', value: null }, '"value" must be a string of whole characters; received null'),
  line({ op: 'put', id: 'a' }, 'one of "value" and "valueBase64"; received neither'),
  line({ op: 'put', id: 'a', value: '', valueBase64: '' }, 'received both'),
  line({ op: 'put', id: 'a', valueBase64: '?' }, '"valueBase64" must be base64 such as AAE=; received "?"'),
  line(
    { op: 'put', id: 'a', value: '', ttl: 0 },
    '"ttl" must be a whole number of seconds from 1 to 999999999; received 0',
  ),
  line(
    { op: 'expire', id: 'a', expiresAt: '1' },
    '"expiresAt" must be a time in ms since 1970, from 1 to',
    'received "1"',
  ),
  line({ op: 'expire', id: 'a' }, 'one of "ttl" and "expiresAt"; received neither'),
  {
    request: ['POST', '/v0/batch', JSON.stringify({ op: 'delete', id: longKey })],
    status: 413,
    code: 'KEY_TOO_LARGE',
    detail: ['line 1: "id" must be at most 1024 bytes; received 1025'],
  },
  keys('', 'body must be an object such as', 'received no body'),
  keys('{', 'body must be valid JSON', 'received 1 char'),
  keys([], 'body must be an object with "ids"; received an empty array'),
  keys({ ids: ['a'], key: 1 }, 'unknown property "key"; known: ids'),
  keys({ ids: [] }, '"ids" must be an array of 1 to 10000 keys; received an empty array'),
  keys({ ids: ['a', 5] }, '"ids"[1] must be a string of at least 1 whole character; received 5'),
]

it.each(SERVERS)('every refusal names the field, the allowed and the received value, served by %s', async (server) => {
  const kv = await startKv({ server, store: 'memory' })
  onTestFinished(async () => void (await kv.stop()))
  await expectRefusals(kv.url, refusals)
  await expectAllRefused(kv.url, refusals)
})

it('a refusal of a batch is the same on every line', async () => {
  const kv = await startKv({ store: 'memory' })
  onTestFinished(async () => void (await kv.stop()))
  const lines = [...Array(10).fill('{"op":"delete","id":"a"}'), '{"op":"\\u001b"}'].join('\n')
  const reply = await kv.request('POST', '/v0/batch', lines)
  expect(JSON.parse(reply.text).detail).toBe('line 11: "op" must be one of put, delete, expire; received "\\u001b"')
})
