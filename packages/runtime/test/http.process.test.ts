import { describe, expect, test } from 'vitest'
import { expectProblem, startCounter, useCounter } from './support/counter-service.ts'

const counter = useCounter({ start: 7 })

describe('the routes that every service has', () => {
  test.each([
    ['/healthz', { status: 'alive' }],
    ['/readyz', { status: 'ready' }],
    ['/version', { name: 'influencer-stats', version: expect.any(String), node: process.version }],
    ['/openapi.json', { openapi: '3.1.0', paths: { '/value': { get: {}, put: {} } } }],
  ])('GET %s', async (path, body) => {
    const reply = await counter.request('GET', path)
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toMatch(/^application\/json/)
    expect(reply.headers['x-request-id']).toMatch(/./)
    expect(JSON.parse(reply.body)).toMatchObject(body)
  })

  test('GET /docs is a page', async () => {
    const reply = await fetch(`${counter.url}/docs`)
    expect(reply.status).toBe(200)
    expect(await reply.text()).toContain('swagger')
  })

  test('HEAD works wherever GET does', async () => {
    for (const path of ['/value', '/healthz', '/version', '/metrics']) {
      const reply = await fetch(counter.url + path, { method: 'HEAD' })
      expect([path, reply.status, await reply.text()]).toEqual([path, 200, ''])
    }
    expect((await fetch(`${counter.url}/nowhere`, { method: 'HEAD' })).status).toBe(404)
  })
})

describe('a wrong request gets a problem', () => {
  test('404 for an unknown path', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']) {
      expectProblem(await counter.request(method, '/nowhere?x=1'), 404, 'NOT_FOUND')
    }
  })

  test.each(['POST', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])(
    '405 for %s, with the allowed methods',
    async (method) => {
      const reply = await counter.request(method, '/value?x=1')
      expectProblem(reply, 405, 'METHOD_NOT_ALLOWED')
      expect(reply.headers.allow).toBe('GET, HEAD, PUT')
    },
  )

  test('405 and 404 for any body', async () => {
    const headers = { 'content-type': 'text/plain', 'content-length': '3' }
    expectProblem(await counter.request('POST', '/value', headers, 'abc'), 405, 'METHOD_NOT_ALLOWED')
    expectProblem(await counter.request('POST', '/nowhere', headers, 'abc'), 404, 'NOT_FOUND')
    expectProblem(await counter.request('POST', '/value', {}, '{'), 405, 'METHOD_NOT_ALLOWED')
    expectProblem(await counter.request('POST', '/nowhere', { 'content-type': 'json' }, '{'), 404, 'NOT_FOUND')
    expectProblem(await counter.request('POST', '/nowhere', { host: 'evil.example' }, '{'), 421, 'MISDIRECTED_HOST')
  })

  test.each([
    ['{"value":', 'BAD_JSON'],
    ['{"__proto__":{"value":1}}', 'BAD_JSON'],
    ['null', 'VALIDATION_FAILED'],
    ['{}', 'VALIDATION_FAILED'],
    ['{"value":"5"}', 'VALIDATION_FAILED'],
    ['{"value":5.5}', 'VALIDATION_FAILED'],
    ['{"value":5,"other":1}', 'VALIDATION_FAILED'],
  ])('400 for the body %s, without a change', async (body, code) => {
    expectProblem(await counter.request('PUT', '/value', {}, body), 400, code)
    expect((await counter.request('GET', '/value')).body).toBe('{"value":7}')
  })

  test('400 for an empty body that should be JSON', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '0' }
    expectProblem(await counter.request('PUT', '/value', headers), 400, 'BAD_JSON')
    expectProblem(await counter.request('PUT', '/value'), 400, 'VALIDATION_FAILED')
  })

  test.each(['text/plain', 'application/xml', 'json', 'application/json/x', ''])('415 for "%s"', async (type) => {
    const reply = await counter.request('PUT', '/value', { 'content-type': type }, '{"value":1}')
    expectProblem(reply, 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  test('400 for a bad escape in the path', async () => {
    expectProblem(await counter.request('GET', '/%zz'), 400, 'BAD_REQUEST')
    expectProblem(await counter.request('GET', '/%ff'), 400, 'BAD_REQUEST')
  })

  test('417 for an unknown expectation', async () => {
    expectProblem(
      await counter.request('PUT', '/value', { expect: 'a miracle' }, '{"value":1}'),
      417,
      'EXPECTATION_FAILED',
    )
    expect((await counter.request('GET', '/value')).body).toBe('{"value":7}')
  })

  test('500 reveals no details of the fault', async () => {
    const reply = await counter.request('GET', '/throw')
    expect(expectProblem(reply, 500, 'INTERNAL')).not.toHaveProperty('detail')
    expect(reply.body).not.toMatch(/secret|stack|Error|\.ts/)
  })
})

describe('a body over the limit', () => {
  const body = JSON.stringify({ value: 1, padding: 'x'.repeat(200) })

  test('413 by its length', async () => {
    const counter = await startCounter({ bodyLimit: 100 })
    expectProblem(await counter.request('PUT', '/value', {}, body), 413, 'BODY_TOO_LARGE')
  })

  test('413 in chunks', async () => {
    const counter = await startCounter({ bodyLimit: 100 })
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const reply = await counter.request('PUT', '/value', { ...headers, 'content-length': undefined }, chunked)
    expectProblem(reply, 413, 'BODY_TOO_LARGE')
  })

  test.each(['content-length', 'chunked'])('the reply reaches a client that is still sending (%s)', async (framing) => {
    const counter = await startCounter({ bodyLimit: 1_000 })
    const bytes = Buffer.alloc(20_000_000, 'x')
    const reply = await fetch(`${counter.url}/value`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: framing === 'chunked' ? new Blob([bytes]).stream() : bytes,
      duplex: 'half',
    } as RequestInit)
    expect(reply.status).toBe(413)
    expect(await reply.json()).toMatchObject({ code: 'BODY_TOO_LARGE' })
  })
})

describe('a body that does not match the schema', () => {
  test.each([
    ['{"value":1,"vlaue":2}', 'body has the unknown property "vlaue"; known: value'],
    ['{"value":"1"}', 'body/value must be an integer; received "1"'],
    ['{}', 'body must have the property "value"; required: value; received an empty object'],
  ])('%s gets a detail that names the error', async (body, detail) => {
    const reply = await counter.request('PUT', '/value', {}, body)
    expect(expectProblem(reply, 400, 'VALIDATION_FAILED')).toMatchObject({ detail })
  })
})

describe('a browser at the root of a service', () => {
  test('sees the service and its links, and loads no external resource', async () => {
    const reply = await counter.request('GET', '/')
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8')
    expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'/)
    expect(reply.body).toContain('<h1>counter</h1>')
    for (const [, path] of reply.body.matchAll(/href="([^"]+)"/g))
      expect([path, (await counter.request('GET', `/${path}`)).status]).toEqual([path, 200])
  })

  test('needs the token if reads need it', async () => {
    const counter = await startCounter({ readToken: 'secret' })
    expectProblem(await counter.request('GET', '/'), 401, 'UNAUTHORIZED')
  })
})

describe('requests from other sites', () => {
  const origin = 'https://dashboard.example'
  const preflight = { origin, 'access-control-request-method': 'PUT' }

  test('CORS is off by default', async () => {
    expect((await counter.request('GET', '/value', { origin })).headers).not.toHaveProperty(
      'access-control-allow-origin',
    )
    expectProblem(await counter.request('OPTIONS', '/value', preflight), 405, 'METHOD_NOT_ALLOWED')
  })

  test('an allowed origin may read and change, another may not', async () => {
    const counter = await startCounter({ corsOrigins: origin })
    const allowed = await counter.request('OPTIONS', '/value', preflight)
    expect(allowed.status).toBe(204)
    expect(allowed.headers['access-control-allow-origin']).toBe(origin)
    expect(allowed.headers['access-control-allow-methods']).toMatch(/PUT/)
    const read = await counter.request('GET', '/value', { origin })
    expect(read.headers['access-control-allow-origin']).toBe(origin)
    expect((await counter.request('PUT', '/value', { origin }, '{"value":3}')).status).toBe(200)

    expect(allowed.headers['access-control-max-age']).toBe('7200')
    expect(read.headers['access-control-expose-headers']).toBe(
      'ETag, Retry-After, Age, x-request-id, event-id, expires-at, next, sequence',
    )

    const other = { origin: 'https://evil.example' }
    expect((await counter.request('GET', '/value', other)).headers).not.toHaveProperty('access-control-allow-origin')
    expectProblem(await counter.request('PUT', '/value', other, '{"value":4}'), 403, 'CROSS_SITE')
  })

  test('with CORS on, an unknown path is still 404 and a wrong method 405', async () => {
    const counter = await startCounter({ corsOrigins: origin })
    expectProblem(await counter.request('GET', '/nowhere'), 404, 'NOT_FOUND')
    expect((await counter.request('DELETE', '/value')).headers.allow).toBe('GET, HEAD, PUT')
  })
})
