import { MAX_KEY_BYTES } from './keys.ts'
import type { RefusedRequest } from './operations.ts'
import type { SeededRandom } from '@influencer-stats/runtime/testing/seeded-random'

const createGet = (query: string, code: string, status = 400): RefusedRequest => ({
  type: 'refused',
  method: 'GET',
  target: `/v0/entity${query}`,
  status,
  code,
})

const createPut = (query: string, code: string, headers: Readonly<Record<string, string>> = {}): RefusedRequest => ({
  type: 'refused',
  method: 'PUT',
  target: `/v0/entity${query}`,
  headers: { 'content-type': 'application/octet-stream', ...headers },
  body: Buffer.from('x'),
  status: code === 'KEY_TOO_LARGE' ? 413 : 400,
  code,
})

const TOO_LONG_KEY = `?id=${'%C3%A9'.repeat(MAX_KEY_BYTES / 2)}x`

const REFUSED_REQUESTS = [
  createGet('', 'QUERY_INVALID'),
  createGet('?id=', 'QUERY_INVALID'),
  createGet('?id=%G0', 'QUERY_INVALID'),
  createGet('?id=%C3', 'QUERY_INVALID'),
  createGet('?id=a%FFb', 'QUERY_INVALID'),
  createGet('?id=%ED%A0%80', 'QUERY_INVALID'),
  createGet('?id=a&id=b', 'QUERY_INVALID'),
  createGet('?id=a&more=b', 'QUERY_INVALID'),
  createGet(TOO_LONG_KEY, 'KEY_TOO_LARGE', 413),
  createPut('?id=%C3%28', 'QUERY_INVALID'),
  createPut('?id=a&ttl=0', 'QUERY_INVALID'),
  createPut('?id=a&ttl=1.5', 'QUERY_INVALID'),
  createPut('?id=a&durable=yes', 'QUERY_INVALID'),
  createPut('?id=a', 'CONDITION_INVALID', { 'if-match': 'tag' }),
  createPut('?id=a', 'CONDITION_INVALID', { 'if-none-match': '"a" "b"' }),
  createPut('?id=a', 'IDEMPOTENCY_KEY_INVALID', { 'idempotency-key': '"a b"' }),
  createPut(TOO_LONG_KEY, 'KEY_TOO_LARGE'),
]

export const pickRefused = (random: SeededRandom): RefusedRequest => random.pick(REFUSED_REQUESTS)
