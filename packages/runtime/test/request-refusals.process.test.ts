import { expect, test } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { startCounter } from './support/counter-service.ts'
import { expectAllRefused, expectRefusals, type Refusal } from './support/refusals.ts'

const put = (body: unknown, headers?: Record<string, string>) => ['PUT', '/value', body, headers] as const

const refusals: Refusal[] = [
  {
    request: put({ value: 1, vlaue: 'hunter2-secret' }),
    code: 'VALIDATION_FAILED',
    detail: ['body', '"vlaue"', 'known: value'],
  },
  { request: put({ value: 'x' }), code: 'VALIDATION_FAILED', detail: ['body/value', 'an integer', 'received "x"'] },
  { request: put({}), code: 'VALIDATION_FAILED', detail: ['"value"', 'received an empty object'] },
  { request: put('7'), code: 'VALIDATION_FAILED', detail: ['body must be an object; received 7'] },
  {
    request: put('{"value":hunter2-secret}'),
    code: 'BAD_JSON',
    detail: ['body must be valid JSON', 'received 24 char'],
  },
  { request: put(''), code: 'BAD_JSON', detail: ['body must be valid JSON; received no text'] },
  { request: put('{"__proto__":1,"value":1}'), code: 'BAD_JSON', detail: ['"__proto__"'] },
  {
    request: put('x', { 'content-type': 'text/plain' }),
    status: 415,
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: ['content-type must be application/json; received "text/plain"'],
  },
  {
    request: put({ value: 1 }, { 'content-encoding': 'br' }),
    status: 415,
    code: 'CONTENT_ENCODING_UNSUPPORTED',
    detail: ['Content-Encoding must be identity; received "br"'],
  },
  {
    request: put({ value: 1 }, { 'content-range': 'bytes 0-1/2' }),
    code: 'CONTENT_RANGE_UNSUPPORTED',
    detail: ['Content-Range', 'received "bytes 0-1/2"'],
  },
  {
    request: put({ value: 1, padding: 'x'.repeat(2_000) }),
    status: 413,
    code: 'BODY_TOO_LARGE',
    detail: ['at most 1000 bytes; received 2024'],
  },
  {
    request: ['GET', '/value/%zz?token=hunter2-secret'],
    code: 'BAD_REQUEST',
    detail: ['path', 'percent-encoded', 'received "/value/%zz"'],
  },
  {
    request: ['GET', `/value/%zz${'x'.repeat(500)}`],
    code: 'BAD_REQUEST',
    detail: ['path', '(510 characters)'],
  },
]

test.each(SERVERS)(
  'each refusal names the field, the allowed values and the received value, served by %s',
  async (server) => {
    const counter = await startCounter({ server, bodyLimit: 1_000 })
    await expectRefusals(counter.url, refusals)
    await expectAllRefused(counter.url, refusals)
  },
)

test('a Host that is not served', async () => {
  const counter = await startCounter()
  const reply = await counter.request('GET', '/value', { host: 'evil.example' })
  expect(JSON.parse(reply.body).detail).toBe(
    'Host must be a loopback address, the listen address or in ALLOWED_HOSTS; received "evil.example"',
  )
})

test('an unknown expectation', async () => {
  const counter = await startCounter()
  const reply = await counter.request('PUT', '/value', { expect: 'a miracle' }, '{"value":1}')
  expect(JSON.parse(reply.body).detail).toBe('Expect must be 100-continue; received "a miracle"')
})
