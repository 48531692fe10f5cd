import { SERVERS } from '@influencer-stats/runtime/settings'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { toRevision, toStored } from '../src/core/stored-value.ts'
import { exchangeRaw } from './support/raw-exchange.ts'
import { startKv, type TestKv } from './support/kv.ts'
import { openUsedTestLevel } from './support/level.ts'
import { damageTables } from '@influencer-stats/runtime/testing/damage-tables'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

const entity = (id: string) => `/v0/entity?id=${encodeURIComponent(id)}`
const NDJSON = { accept: 'application/x-ndjson' }

describe.each(SERVERS)('the API with server %s', (server) => {
  let kv: TestKv
  beforeAll(async () => {
    kv = await startKv({ server, valueLimit: 100_000, batchLimit: 200_000 })
  })
  afterAll(() => kv.stop())

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

  it('writes only if the condition holds', async () => {
    const put = (body: string, headers: Record<string, string>) => kv.request('PUT', entity('c'), body, headers)
    expect((await put('x', { 'if-match': '*' })).code).toBe('CONDITION_FAILED')
    expect((await put('1', { 'if-none-match': '*' })).status).toBe(201)
    expect((await put('2', { 'if-none-match': '*' })).code).toBe('CONDITION_FAILED')
    const etag = (await kv.request('GET', entity('c'))).headers.get('etag')!
    expect((await put('2', { 'if-match': '"other"' })).code).toBe('CONDITION_FAILED')
    expect((await put('2', { 'if-match': `W/${etag}` })).code).toBe('CONDITION_FAILED')
    expect((await put('2', { 'if-match': `"other" , ${etag}` })).status).toBe(201)
    expect((await put('3', { 'if-match': etag })).code).toBe('CONDITION_FAILED')
    expect((await kv.request('GET', entity('c'))).text).toBe('2')
    for (const bad of ['etag', '"a" "b"', '*, "a"', ''])
      expect((await put('3', { 'if-match': bad })).code).toBe('CONDITION_INVALID')
    expect((await kv.request('DELETE', entity('c'), undefined, { 'if-match': etag })).code).toBe('CONDITION_FAILED')
    expect((await kv.request('DELETE', entity('c'), undefined, { 'if-match': '*' })).status).toBe(202)
  })

  it('answers an unconditional put before its write if the client prefers that', async () => {
    const prefer = (value: string) => ({ prefer: value })
    for (const wish of ['respond-async', 'return=minimal, Respond-Async', 'respond-async; wait=1']) {
      const { status, headers } = await kv.request('PUT', entity('soon'), wish, prefer(wish))
      expect([status, headers.get('preference-applied')]).toEqual([202, 'respond-async'])
      expect(headers.get('etag')).toBeNull()
      await waitUntil(async () => (await kv.request('GET', entity('soon'))).text === wish)
    }
    const preference: [string, Record<string, string>][] = [
      ['', {}],
      ['', { prefer: 'respond-asynchronously' }],
      ['&durable=true', prefer('respond-async')],
      ['&ttl=60', prefer('respond-async')],
      ['', { ...prefer('respond-async'), 'if-match': '*' }],
      ['', { ...prefer('respond-async'), 'idempotency-key': `"soon-${server}"` }],
    ]
    for (const [query, headers] of preference) {
      const put = await kv.request('PUT', entity('soon') + query, 'x', headers)
      expect([query, put.status, put.headers.get('preference-applied')]).toEqual([query, 201, null])
      expect(put.headers.get('etag')).not.toBeNull()
    }
    expect((await kv.request('PUT', entity('soon'), 'x'.repeat(100_001), prefer('respond-async'))).status).toBe(413)
  })

  it('distinguishes a value from the same bytes written again, by any kind of write', async () => {
    const line = JSON.stringify({ op: 'put', id: 'aba', value: 'A' })
    const ways: [string, () => Promise<unknown>][] = [
      ['put', () => kv.request('PUT', entity('aba'), 'A')],
      ['put durably', () => kv.request('PUT', `${entity('aba')}&durable=true`, 'A')],
      ['put by a batch', () => kv.request('POST', '/v0/batch', line)],
      ['put under a condition', () => kv.request('PUT', entity('aba'), 'A', { 'if-match': '*' })],
    ]
    const tags = new Set<string>()
    for (const [way, putAgain] of ways) {
      for (const between of [
        () => kv.request('PUT', entity('aba'), 'B'),
        () => kv.request('DELETE', entity('aba')).then(() => kv.request('PUT', entity('aba'), 'B')),
        () => Promise.resolve(),
      ]) {
        await kv.request('PUT', entity('aba'), 'A')
        const old = (await kv.request('GET', entity('aba'))).headers.get('etag')!
        await between()
        await putAgain()
        const swap = await kv.request('PUT', entity('aba'), 'C', { 'if-match': old })
        expect([way, swap.code]).toEqual([way, 'CONDITION_FAILED'])
        expect((await kv.request('DELETE', entity('aba'), undefined, { 'if-match': old })).code).toBe(
          'CONDITION_FAILED',
        )
        const now = await kv.request('GET', entity('aba'), undefined, { 'if-none-match': old })
        expect(now).toMatchObject({ status: 200, text: 'A' })
        for (const tag of [old, now.headers.get('etag')!]) expect(tags.has(tag)).toBe(false)
        tags.add(old).add(now.headers.get('etag')!)
      }
    }
  })

  it('replies 304 if the client has the value, and 412 if a condition fails', async () => {
    await kv.request('PUT', entity('n'), 'x')
    const etag = (await kv.request('GET', entity('n'))).headers.get('etag')!
    const get = (headers: Record<string, string>) => kv.request('GET', entity('n'), undefined, headers)
    for (const tags of [etag, `W/${etag}`, `"a", ${etag}`, '*'])
      expect(await get({ 'if-none-match': tags })).toMatchObject({ status: 304, text: '' })
    expect((await get({ 'if-none-match': '"a"' })).status).toBe(200)
    expect((await get({ 'if-none-match': 'a' })).code).toBe('CONDITION_INVALID')
    expect((await get({ 'if-match': '"a"' })).code).toBe('CONDITION_FAILED')
    expect((await get({ 'if-match': etag })).status).toBe(200)
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

  it('returns ranges as one chunk per entry or as lines', async () => {
    for (const id of ['r/é', 'r/a', 'r/b', 'r/B']) await kv.request('PUT', entity(id), `value of ${id}`)
    const range = (query: string, headers = {}) => kv.request('GET', `/v0/entities?${query}`, undefined, headers)
    const ids = async (query: string) => {
      const lines = (await range(query, NDJSON)).text.split('\n').filter(Boolean)
      return lines.map((line) => JSON.parse(line).id)
    }
    expect(await ids('start=r/&end=r0')).toEqual(['r/B', 'r/a', 'r/b', 'r/é'])
    expect(await ids('start=r/a&end=r/b')).toEqual(['r/a'])
    expect(await ids('start=r/&limit=2')).toEqual(['r/B', 'r/a'])
    expect(await ids('start=r0&end=r/')).toEqual([])
    expect(await ids('start=r/a&end=r/a')).toEqual([])
    expect((await range('start=r/a&limit=1', { accept: 'application/octet-stream' })).text).toBe('r/a\nvalue of r/a')
    const request = 'GET /v0/entities?start=r/&limit=2 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'
    expect(await exchangeRaw(kv.url, request)).toMatch(
      /\r\n\r\n10\r\nr\/B\nvalue of r\/B\r\n10\r\nr\/a\nvalue of r\/a\r\n0\r\n\r\n$/,
    )
    const old = 'GET /v0/entities?start=r/a&limit=1 HTTP/1.0\r\nHost: localhost\r\n\r\n'
    expect(await exchangeRaw(kv.url, old)).toMatch(/\r\n\r\n\{"op":"put","id":"r\/a","value":"value of r\/a"\}\n$/)
  })

  it('reuses a connection after a range', async () => {
    const one = 'GET /v0/entities?start=r/&limit=1 HTTP/1.1\r\nHost: localhost\r\n'
    const reply = await exchangeRaw(kv.url, `${one}\r\n${one}Connection: close\r\n\r\n`)
    expect(reply.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
  })

  it.each([
    'start=',
    'prefix=',
    'prefix=a&start=a',
    'prefix=a&end=b',
    'reverse=yes',
    'keys=1',
    'count=',
    'cursor=%ff',
    'start=a&limit=0',
    'start=a&limit=x',
    'start=a&limit=-1',
    'start=a&id=b',
    'start=%80',
  ])('refuses the range "%s"', async (query) => {
    expect((await kv.request('GET', `/v0/entities?${query}`)).code).toBe('QUERY_INVALID')
  })

  it('applies a batch in order, and returns ranges as lines of a batch', async () => {
    const bytes = Buffer.from([0xff, 0, 10])
    const lines = [
      { op: 'put', id: 'b/1', value: 'one\n"' },
      { op: 'put', id: 'b/2', valueBase64: bytes.toString('base64') },
      { op: 'put', id: 'b/3', value: 'gone' },
      { op: 'delete', id: 'b/3' },
    ]
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    const { status, text } = await kv.request('POST', '/v0/batch?durable=true', body)
    expect({ status, text }).toEqual({ status: 200, text: '{"applied":4}' })
    expect((await kv.request('GET', entity('b/2'))).bytes).toEqual(bytes)
    const range = await kv.request('GET', '/v0/entities?start=b/&end=b0', undefined, NDJSON)
    expect(range.text).toBe(body.split('\n').slice(0, 2).join('\n') + '\n')
    expect((await kv.request('POST', '/v0/batch', range.text)).text).toBe('{"applied":2}')
  })

  it.each([
    ['without a body', undefined],
    ['with an empty body', ''],
    ['of empty lines', '\n \n'],
  ])('refuses a batch %s', async (_, body) => {
    expect(await kv.request('POST', '/v0/batch', body)).toMatchObject({ status: 400, code: 'BATCH_EMPTY' })
  })

  it.each<Record<string, string>>([{ 'if-match': '*' }, { 'if-none-match': '*' }, { 'if-match': '"none"' }])(
    'refuses a batch with a condition: %j',
    async (condition) => {
      const line = '{"op":"put","id":"conditional","value":"1"}\n'
      expect(await kv.request('POST', '/v0/batch', line, condition)).toMatchObject({
        status: 400,
        code: 'CONDITION_UNSUPPORTED',
      })
      expect((await kv.request('GET', entity('conditional'))).status).toBe(404)
    },
  )

  it('ignores dates as conditions of a batch, because a batch has none', async () => {
    const date = new Date(0).toUTCString()
    const line = '{"op":"delete","id":"dated"}\n'
    const headers = { 'if-modified-since': date, 'if-unmodified-since': date }
    expect((await kv.request('POST', '/v0/batch', line, headers)).status).toBe(200)
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

  it.each([
    ['{', 'BATCH_LINE_INVALID'],
    ['[]', 'BATCH_LINE_INVALID'],
    ['{"op":"get","id":"x"}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"x"}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"","value":""}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"\\ud800","value":""}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"x","value":"","valueBase64":""}', 'BATCH_LINE_INVALID'],
    ['{"op":"put","id":"x","valueBase64":"%%"}', 'BATCH_LINE_INVALID'],
    ['{"op":"delete","id":"x","value":""}', 'BATCH_LINE_INVALID'],
    [`{"op":"delete","id":"${'x'.repeat(1025)}"}`, 'KEY_TOO_LARGE'],
    [`{"op":"put","id":"x","value":"${'x'.repeat(100_001)}"}`, 'VALUE_TOO_LARGE'],
  ])('refuses a batch with the line %.60s, names the line, and applies nothing', async (line, code) => {
    const good = '{"op":"put","id":"never","value":""}'
    const reply = await kv.request('POST', '/v0/batch', `${good}\n\n${line}\n${good}`)
    expect(reply.code).toBe(code)
    expect(JSON.parse(reply.text).detail).toMatch(/^line 3: /)
    expect((await kv.request('GET', entity('never'))).status).toBe(404)
  })

  it('refuses a batch that is too large or not UTF-8', async () => {
    expect((await kv.request('POST', '/v0/batch', Buffer.alloc(200_001, 10))).code).toBe('BATCH_TOO_LARGE')
    const body = Buffer.concat([Buffer.from('{"op":"delete","id":"'), Buffer.from([0xff]), Buffer.from('"}')])
    expect((await kv.request('POST', '/v0/batch', body)).code).toBe('BATCH_LINE_INVALID')
    expect((await kv.request('POST', '/v0/batch?id=x', '')).code).toBe('QUERY_INVALID')
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

describe.each(SERVERS)('a damaged store with server %s', (server) => {
  it('fails for damaged entries with a code, and continues to serve the others', async () => {
    const data = createTemporaryFolder()
    const level = await openUsedTestLevel(data)
    const { db } = level
    const keys = Array.from({ length: 500 }, (_, i) => `k${1_000 + i}`)
    for (const key of keys) await db.put(Buffer.from(key), toStored(toRevision(1), Buffer.from(key.repeat(100))))
    await db.compactRange(Buffer.from('a'), Buffer.from('z'))
    await level.close()
    const kv = await startKv({ server, data })
    onTestFinished(async () => void (await kv.stop()))
    damageTables(join(data, 'level'))
    expect((await kv.request('GET', '/readyz')).status).toBe(200)
    const seen = new Set<number>()
    for (const key of keys) {
      const { status, text, code } = await kv.request('GET', entity(key))
      seen.add(status)
      if (status === 200) expect(text).toBe(key.repeat(100))
      else expect([status, code, text.includes('orruption')]).toEqual([500, 'DATA_DAMAGED', false])
    }
    expect([...seen].toSorted()).toEqual([200, 500])
    expect(await kv.request('GET', '/readyz')).toMatchObject({ status: 503, code: 'NOT_READY' })
    expect((await kv.request('GET', '/metrics')).text).toMatch(/^data_damaged_files 1$/m)
    expect((await kv.request('GET', '/metrics')).text).toMatch(
      /^http_request_errors_total\{code="DATA_DAMAGED"\} [1-9]/m,
    )
  })
})
