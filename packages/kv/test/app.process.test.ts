import { SERVERS } from '@influencer-stats/runtime/settings'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { exchangeRaw } from './support/raw-exchange.ts'
import { entity, useKv } from './support/kv.ts'

describe.each(SERVERS)('the API with server %s', (server) => {
  const kv = useKv({ server, valueLimit: 100_000, batchLimit: 200_000 })

  it('puts, reads, replaces and deletes a value', async () => {
    expect((await kv.request('PUT', entity('k'), 'one')).status).toBe(201)
    const first = await kv.request('GET', entity('k'))
    expect(first).toMatchObject({ status: 200, text: 'one' })
    expect(first.headers.get('content-type')).toBe('application/octet-stream')
    expect(first.headers.get('x-content-type-options')).toBe('nosniff')
    const put = await kv.request('PUT', entity('k'), 'two', { 'content-type': 'application/json' })
    const second = await kv.request('GET', entity('k'))
    expect(second.text).toBe('two')
    expect(put.headers.get('etag')).toBe(second.headers.get('etag'))
    expect(second.headers.get('etag')).not.toBe(first.headers.get('etag'))
    expect((await kv.request('DELETE', entity('k'))).status).toBe(202)
    expect(await kv.request('GET', entity('k'))).toMatchObject({ status: 404, code: 'ENTITY_NOT_FOUND' })
    expect((await kv.request('DELETE', entity('k'))).status).toBe(202)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['every byte', Buffer.from(Array.from({ length: 256 }, (_, i) => i))],
    ['text', Buffer.from('plain text')],
    ['text of more than a byte a character', Buffer.from('ключ\0🎈')],
    ['20,000 letters', Buffer.alloc(20_000, 'x')],
    ['50,000 bytes', Buffer.alloc(50_000, 'é')],
  ])('stores %s as a value, and describes it in reply to HEAD', async (_, value) => {
    expect((await kv.request('PUT', `${entity('v')}&durable=true`, value)).status).toBe(201)
    const { bytes, headers } = await kv.request('GET', entity('v'))
    expect(bytes).toEqual(value)
    const head = await kv.request('HEAD', entity('v'))
    expect(head.status).toBe(200)
    expect(head.bytes).toHaveLength(0)
    for (const name of ['etag', 'content-length', 'content-type'])
      expect(head.headers.get(name)).toBe(headers.get(name))
    expect((await kv.request('HEAD', entity('not there'))).status).toBe(404)
  })

  it('accepts any UTF-8 as a key, with "+" for a space', async () => {
    await kv.request('PUT', '/v0/entity?id=a+b', 'space')
    expect((await kv.request('GET', '/v0/entity?id=a%20b')).text).toBe('space')
    await kv.request('PUT', entity('ключ\0🎈'), 'value')
    expect((await kv.request('GET', entity('ключ\0🎈'))).text).toBe('value')
    expect((await kv.request('PUT', entity('x'.repeat(1024)), '')).status).toBe(201)
  })

  it.each([
    ['', 'QUERY_INVALID'],
    ['?id', 'QUERY_INVALID'],
    ['?id=', 'QUERY_INVALID'],
    ['?id=%', 'QUERY_INVALID'],
    ['?id=%FF', 'QUERY_INVALID'],
    ['?id=%zz', 'QUERY_INVALID'],
    ['?id=a&id=b', 'QUERY_INVALID'],
    ['?id=a&', 'QUERY_INVALID'],
    ['?id=a&durable=true&more=1', 'QUERY_INVALID'],
    ['?key=a', 'QUERY_INVALID'],
    [`?id=${'x'.repeat(1025)}`, 'KEY_TOO_LARGE'],
    [`?id=${'%D1%8F'.repeat(513)}`, 'KEY_TOO_LARGE'],
  ])('refuses the query string "%.40s"', async (query, code) => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? 'x' : undefined
      expect((await kv.request(method, `/v0/entity${query}`, body)).code).toBe(code)
    }
  })

  it('refuses an invalid flag, another method, and a parameter of another route', async () => {
    expect((await kv.request('PUT', `${entity('k')}&durable=yes`, '')).code).toBe('QUERY_INVALID')
    expect((await kv.request('GET', `${entity('k')}&durable=true`)).code).toBe('QUERY_INVALID')
    const post = await kv.request('POST', entity('k'), 'x')
    expect(post).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' })
    expect(post.headers.get('allow')).toBe('DELETE, GET, HEAD, PUT')
  })

  it('refuses a value that is too large, even of unknown length, and retains the old one', async () => {
    await kv.request('PUT', entity('large'), 'old')
    expect((await kv.request('PUT', entity('large'), Buffer.alloc(100_000))).status).toBe(201)
    await kv.request('PUT', entity('large'), 'old')
    expect((await kv.request('PUT', entity('large'), Buffer.alloc(100_001))).code).toBe('VALUE_TOO_LARGE')
    const head = `PUT ${entity('large')} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
    const chunk = `fa00\r\n${'x'.repeat(64_000)}\r\n`
    // The request never ends: the reply comes as soon as the limit is exceeded.
    expect(await exchangeRaw(kv.url, head + chunk + chunk)).toMatch(/^HTTP\/1\.1 413 .*VALUE_TOO_LARGE/s)
    expect((await kv.request('GET', entity('large'))).text).toBe('old')
    const small = `${head}3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n`.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    expect(await exchangeRaw(kv.url, small)).toMatch(/^HTTP\/1\.1 201 /)
    expect((await kv.request('GET', entity('large'))).text).toBe('abcd')
  })

  it('stores nothing if a client disconnects in the middle of a value', async () => {
    const { hostname, port } = new URL(kv.url)
    const socket = connect(Number(port), hostname)
    socket.write(`PUT ${entity('half')} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc`)
    await once(socket, 'connect')
    socket.destroy()
    await kv.request('PUT', entity('after'), 'x')
    expect((await kv.request('GET', entity('half'))).status).toBe(404)
  })

  it.each<[string, string, string, Record<string, string>, number, string]>([
    ['PUT', 'a part of a value', entity('part'), { 'content-range': 'bytes 0-1/4' }, 400, 'CONTENT_RANGE_UNSUPPORTED'],
    ['PUT', 'an encoded value', entity('part'), { 'content-encoding': 'gzip' }, 415, 'CONTENT_ENCODING_UNSUPPORTED'],
    ['POST', 'an encoded batch', '/v0/batch', { 'content-encoding': 'gzip' }, 415, 'CONTENT_ENCODING_UNSUPPORTED'],
  ])('refuses a %s of %s', async (method, _, path, headers, status, code) => {
    const reply = await kv.request(method, path, '{"op":"put","id":"part","value":"1"}\n', headers)
    expect(reply).toMatchObject({ status, code })
    expect(reply.headers.get('accept-encoding')).toBe(status === 415 ? 'identity' : null)
    expect((await kv.request('GET', entity('part'))).status).toBe(404)
  })

  it('stores a value whose content coding is identity', async () => {
    const put = await kv.request('PUT', entity('identity'), 'plain', { 'content-encoding': 'Identity' })
    expect(put.status).toBe(201)
    expect((await kv.request('GET', entity('identity'))).text).toBe('plain')
  })

  it('refuses writes from pages of other sites', async () => {
    const reply = await kv.request('PUT', entity('k'), 'x', { 'sec-fetch-site': 'cross-site' })
    expect(reply).toMatchObject({ status: 403, code: 'CROSS_SITE' })
  })

  it('reports the store in its metrics', async () => {
    const { text } = await kv.request('GET', '/metrics')
    expect(text).toMatch(/^kv_level_files\{level="0"\} \d/m)
    expect(text).toMatch(/^kv_group_writes_count [1-9]/m)
    expect(text).toMatch(/^kv_queue_writes 0$/m)
    expect(text).toMatch(/^kv_write_stall 0$/m)
    expect(text).toMatch(
      /^http_request_duration_seconds_count\{method="PUT",route="\/v0\/entity",status="201"\} [1-9]/m,
    )
  })
})
