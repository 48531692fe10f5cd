import { MAX_KEY_BYTES } from './keys.ts'
import type { Refused } from './operations.ts'
import type { Random } from './random.ts'

const get = (query: string, code: string, status = 400): Refused => ({
  type: 'refused',
  method: 'GET',
  target: `/v0/entity${query}`,
  status,
  code,
})

const put = (query: string, code: string, headers: Readonly<Record<string, string>> = {}): Refused => ({
  type: 'refused',
  method: 'PUT',
  target: `/v0/entity${query}`,
  headers: { 'content-type': 'application/octet-stream', ...headers },
  body: Buffer.from('x'),
  status: code === 'KEY_TOO_LARGE' ? 413 : 400,
  code,
})

const TOO_LONG = `?id=${'%C3%A9'.repeat(MAX_KEY_BYTES / 2)}x`

const REFUSED = [
  get('', 'QUERY_INVALID'),
  get('?id=', 'QUERY_INVALID'),
  get('?id=%G0', 'QUERY_INVALID'),
  get('?id=%C3', 'QUERY_INVALID'),
  get('?id=a%FFb', 'QUERY_INVALID'),
  get('?id=%ED%A0%80', 'QUERY_INVALID'),
  get('?id=a&id=b', 'QUERY_INVALID'),
  get('?id=a&more=b', 'QUERY_INVALID'),
  get(TOO_LONG, 'KEY_TOO_LARGE', 413),
  put('?id=%C3%28', 'QUERY_INVALID'),
  put('?id=a&ttl=0', 'QUERY_INVALID'),
  put('?id=a&ttl=1.5', 'QUERY_INVALID'),
  put('?id=a&durable=yes', 'QUERY_INVALID'),
  put('?id=a', 'CONDITION_INVALID', { 'if-match': 'tag' }),
  put('?id=a', 'CONDITION_INVALID', { 'if-none-match': '"a" "b"' }),
  put('?id=a', 'IDEMPOTENCY_KEY_INVALID', { 'idempotency-key': '"a b"' }),
  put(TOO_LONG, 'KEY_TOO_LARGE'),
]

export const anyRefused = (random: Random): Refused => random.pick(REFUSED)
