import { describe, expect, test } from 'vitest'
import { SERVERS } from '../src/settings/settings.ts'
import { HOT_BODY_LIMIT } from './fixtures/hot-routes.ts'
import { expectProblem, useCounter } from './support/counter-service.ts'
import { openRawClient, formatRequest, type RawRequestHeaders } from './support/raw-client.ts'

const EXPECT = { expect: '100-continue' }
const JSON_TYPE = { 'content-type': 'application/json' }
const TOKEN = 'a-token-of-sufficient-length'
const BEARER = { authorization: `Bearer ${TOKEN}` }

/** A head whose client waits for 100 before it sends the body. */
const head = (method: string, path: string, headers: RawRequestHeaders, length = 3) =>
  formatRequest(method, path, { ...EXPECT, 'content-length': String(length), ...headers })

const REFUSALS: [string, string, number, string][] = [
  ['a body over the limit of a hot route', head('PUT', '/items/ab', BEARER, HOT_BODY_LIMIT + 1), 413, 'TOO_LARGE'],
  ['a JSON body over the limit', head('PUT', '/value', { ...JSON_TYPE, ...BEARER }, 1e9), 413, 'BODY_TOO_LARGE'],
  ['no token', head('PUT', '/items/ab', {}), 401, 'UNAUTHORIZED'],
  ['no token, on a route of Fastify', head('PUT', '/value', JSON_TYPE), 401, 'UNAUTHORIZED'],
  ['another site', head('PUT', '/items/ab', { ...BEARER, origin: 'http://evil.example' }), 403, 'CROSS_SITE'],
  ['a path that is not there', head('PUT', '/nowhere', BEARER), 404, 'NOT_FOUND'],
  ['a method that is not taken', head('PATCH', '/value', BEARER), 405, 'METHOD_NOT_ALLOWED'],
  ['another host', head('PUT', '/items/ab', { ...BEARER, host: 'evil.example' }), 421, 'MISDIRECTED_HOST'],
  [
    'another media type',
    head('PUT', '/value', { ...BEARER, 'content-type': 'text/plain' }),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  [
    'a content coding',
    head('PUT', '/items/ab', { ...BEARER, 'content-encoding': 'gzip' }),
    415,
    'CONTENT_ENCODING_UNSUPPORTED',
  ],
  ['a bad parameter', head('PUT', '/later/x', BEARER), 400, 'VALIDATION_FAILED'],
]

describe.each(SERVERS)('a request that expects 100-continue, served by %s', (server) => {
  const counter = useCounter({ hot: 'yes', server })
  const guarded = useCounter({ hot: 'yes', server, apiToken: TOKEN })

  test.each(REFUSALS)('gets no 100 before its refusal: %s', async (_, text, status, code) => {
    const client = await openRawClient(guarded.port)
    client.send(text)
    const reply = await client.reply()
    expectProblem(reply, status, code)
    // The server cannot distinguish the body from the next request.
    expect(reply.headers.connection).toBe('close')
    await client.closed
  })

  test.each([
    ['a hot route', '/items/ab', {}, 'abc'],
    ['a route of Fastify', '/value', JSON_TYPE, '{"value":7}'],
  ])('gets 100 when its body is read, then the final reply: %s', async (_, path, headers, body) => {
    const client = await openRawClient(counter.port)
    const length = { 'content-length': String(body.length) }
    for (const [fields, sent] of [
      [length, body],
      [{ 'transfer-encoding': 'chunked' }, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
    ] as const) {
      client.send(formatRequest('PUT', path, { ...EXPECT, ...headers, ...fields }))
      expect((await client.reply()).status).toBe(100)
      client.send(sent)
      expect(await client.reply()).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
    }
  })

  test('gets its 100 after the replies to earlier requests', async () => {
    const client = await openRawClient(counter.port)
    client.send(
      formatRequest('GET', '/later/9') + formatRequest('PUT', '/later/9', {}, 'x') + head('PUT', '/items/ab', {}),
    )
    const statuses = [await client.reply(), await client.reply(), await client.reply()].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 100])
    client.send('abc')
    expect((await client.reply()).status).toBe(200)
  })

  test('may send the body without waiting, and reuse the connection', async () => {
    const client = await openRawClient(counter.port)
    client.send(`${head('PUT', '/items/ab', {})}abc${head('PUT', '/later/3', {})}abc${formatRequest('GET', '/value')}`)
    const final: number[] = []
    while (final.length < 3) {
      const { status } = await client.reply()
      if (status !== 100) final.push(status)
    }
    expect(final).toEqual([200, 200, 200])
  })

  test('gets no 100 without a body', async () => {
    const client = await openRawClient(counter.port)
    client.send(formatRequest('GET', '/value', EXPECT) + formatRequest('GET', '/items/ab/view', EXPECT))
    expect([(await client.reply()).status, (await client.reply()).status]).toEqual([200, 200])
  })
})
