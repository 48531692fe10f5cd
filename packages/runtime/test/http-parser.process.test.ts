import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { buildConfig } from '../src/supervisor/embed.ts'
import { startService } from '../src/supervisor/service-host.ts'
import { counter as definition } from './fixtures/services.ts'
import { expectProblem, startCounter, useCounter } from './support/counter-service.ts'
import { startProcessClock } from './support/process-clock.ts'
import { openRawClient, sendRawRequest, formatRequest } from './support/raw-client.ts'
import { waitUntil } from './support/wait-until.ts'

const counter = useCounter()
const put = (value: number) => formatRequest('PUT', '/value', {}, `{"value":${value}}`)

test.each([
  ['garbage', 'hello there\r\n\r\n'],
  ['a lower-case method', 'get /value HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ['an unknown method', 'FETCH /value HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  [
    'two framings',
    'PUT /value HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
  ],
  ['a negative length', 'PUT /value HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n'],
  ['a bad header', 'GET /value HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n'],
  ['another protocol', 'GET /value HTTP/9.9\r\nhost: localhost\r\n\r\n'],
])('400 for %s', async (_what, text) => {
  const client = await openRawClient(counter.port)
  client.send(text)
  const reply = await client.reply()
  expectProblem(reply, 400, 'BAD_REQUEST')
  expect(reply.headers.connection).toBe('close')
  await client.closed
})

test('400 without a Host, also in HTTP/1.0', async () => {
  expectProblem(await sendRawRequest(counter.port, 'GET /value HTTP/1.1\r\n\r\n'), 400, 'HOST_MISSING')
  expectProblem(await sendRawRequest(counter.port, 'GET /value HTTP/1.0\r\n\r\n'), 400, 'HOST_MISSING')
  expectProblem(await sendRawRequest(counter.port, 'GET /value HTTP/1.1\r\nhost:\r\n\r\n'), 400, 'HOST_MISSING')
})

test('405 for CONNECT', async () => {
  const reply = await sendRawRequest(
    counter.port,
    'CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example:443\r\n\r\n',
  )
  expectProblem(reply, 405, 'METHOD_NOT_ALLOWED')
})

test('431 for too many headers, 414 for a path that is too long', async () => {
  const long = 'x'.repeat(20_000)
  expectProblem(await counter.request('GET', '/value', { long }), 431, 'HEADERS_TOO_LARGE')
  expectProblem(await counter.request('GET', `/value?${long}`), 414, 'URI_TOO_LONG')
  expectProblem(await counter.request('GET', `/${'x'.repeat(10_000)}`), 404, 'NOT_FOUND')
})

test('408 for a slow head and a slow body within seconds, while others are served', async () => {
  const counter = await startCounter({ headersTimeout: 300, requestTimeout: 600 })
  const time = startProcessClock()
  const head = await openRawClient(counter.port)
  head.send('GET /value HTTP/1.1\r\nhost: localhost\r\n')
  const body = await openRawClient(counter.port)
  body.send(`${formatRequest('PUT', '/value', { 'content-type': 'application/json', 'content-length': '9' })}{"va`)
  // On a busy machine, other requests may also be too slow.
  const served = () => waitUntil(async () => (await counter.request('GET', '/value')).status === 200)
  await served()
  for (const client of [head, body]) {
    expectProblem(await client.reply(), 408, 'REQUEST_TIMEOUT')
    await client.closed
  }
  expect(time()).toBeLessThan(4_000)
  await served()
})

test('requests before a bad one get their replies', async () => {
  const client = await openRawClient(counter.port)
  client.send(`${put(5)}${formatRequest('GET', '/slow?ms=50')}${formatRequest('GET', '/value')}nonsense\r\n\r\n`)
  const replies = [await client.reply(), await client.reply(), await client.reply()]
  expect(replies.map(({ status, body }) => [status, body])).toEqual([
    [200, '{"value":5}'],
    [200, '{"slow":true}'],
    [200, '{"value":5}'],
  ])
  expectProblem(await client.reply(), 400, 'BAD_REQUEST')
  await client.closed
})

test('cuts an incomplete request after a good one', async () => {
  const counter = await startCounter({ headersTimeout: 300, requestTimeout: 300 })
  const client = await waitUntil(async () => {
    const one = await openRawClient(counter.port)
    one.send(`${put(6)}GET /val`)
    // On a busy machine, the good one may also arrive too late.
    return (await one.reply()).status === 200 && one
  })
  expectProblem(await client.reply(), 408, 'REQUEST_TIMEOUT')
  await client.closed
})

test('requests in pieces, pipelined or on one connection are answered in order', async () => {
  const client = await openRawClient(counter.port)
  for (const byte of put(1)) client.send(byte)
  client.send(put(2) + formatRequest('GET', '/value') + put(3))
  const bodies = [await client.reply(), await client.reply(), await client.reply(), await client.reply()]
  expect(bodies.map(({ body }) => JSON.parse(body).value)).toEqual([1, 2, 2, 3])
})

test('a client that disconnects causes no fault', async () => {
  const client = await openRawClient(counter.port)
  client.send(`${formatRequest('PUT', '/value', { 'content-type': 'application/json', 'content-length': '99' })}{"va`)
  client.send(' ')
  await counter.request('GET', '/value')
  client.socket.destroy()
  await client.closed
  const { body } = await counter.request('GET', '/metrics')
  expect(body).not.toMatch(/http_request_duration_seconds_count\{[^}]*status="5/)
})

test('cuts a client that stays connected after a refusal or CONNECT', async () => {
  const texts = ['nonsense\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n']
  await Promise.all(
    texts.map(async (text) => {
      const client = await openRawClient(counter.port, { allowHalfOpen: true })
      client.send(text)
      await client.reply()
      await waitUntil(() => client.socket.destroyed || void client.send('x'))
    }),
  )
})

test('logs only the faults of the server', async () => {
  const lines: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
  const running = await startService({
    services: '',
    definition,
    config: buildConfig(definition, { port: 0, threads: 0 }),
    log,
  })
  onTestFinished(async () => void (await running.stop()))
  const client = await openRawClient(Number(new URL(running.url).port))
  client.send(formatRequest('PUT', '/value', { 'content-type': 'application/json', 'content-length': '99' }))
  client.socket.end('{"va')
  await client.closed
  expect((await fetch(`${running.url}/throw`)).status).toBe(500)
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'request failed', err: { message: 'secret words' } })
})

test('requests before CONNECT get complete replies', async () => {
  const counter = await startCounter({ hot: 'yes' })
  const client = await openRawClient(counter.port)
  const get = (path: string) => formatRequest('GET', path)
  client.send(`${get('/slow?ms=50')}${get('/later/3')}CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n`)
  expect([(await client.reply()).status, (await client.reply()).status]).toEqual([200, 200])
  expectProblem(await client.reply(), 405, 'METHOD_NOT_ALLOWED')
  await client.closed
})

test.each(['x-y', 'A', '\xe9 '.repeat(30)])(
  'distinguishes a path that is too long from a head that is, after %j',
  async (body) => {
    const first =
      formatRequest('PUT', '/nowhere', { 'content-length': String(body.length), 'content-type': 'a/b' }) + body
    for (const [second, code] of [
      [`GET /${'x'.repeat(20_000)}`, 'URI_TOO_LONG'],
      [`GET / HTTP/1.1\r\nx: ${'GET '.repeat(5_000)}`, 'HEADERS_TOO_LARGE'],
    ] as const) {
      const client = await openRawClient(counter.port)
      client.send(first + second)
      expect((await client.reply()).status).toBe(404)
      expectProblem(await client.reply(), code === 'URI_TOO_LONG' ? 414 : 431, code)
    }
  },
)
