import { SERVERS } from '@influencer-stats/runtime/settings'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { startSse, type TestSse } from './support/test-sse.ts'
import { VIA_FASTIFY, createWaitText, type TestStream } from './support/test-stream.ts'
import { startProcessClock } from '@influencer-stats/runtime/testing/process-clock'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'

/** Sends bytes on a new connection. Returns the reply once it matches, or once the server closes the connection. */
async function sendText(port: number, text: string, untilMatch?: RegExp): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  let answer = ''
  socket.on('data', (data) => (answer += data))
  socket.on('error', () => {})
  socket.write(text, 'latin1')
  await waitUntil(() => socket.closed || untilMatch?.test(answer))
  socket.destroy()
  return answer
}

/** Expects that other streams got every value, once and in order, and still get values. */
async function expectUnaffected(
  sse: TestSse,
  others: readonly TestStream[],
  before: readonly string[] = [],
): Promise<void> {
  await sse.put('still here')
  for (const other of others) {
    await other.until(before.length + 1)
    expect(other.values).toEqual([...before, 'still here'])
    expect(other.ended).toBe(false)
  }
}

describe('a plain request for a stream', () => {
  it('gets a reply in chunks, which ends with the connection', async () => {
    const sse = await startSse()
    const [raw, fastify] = await sse.openBoth()
    for (const { headers } of [raw!, fastify!]) {
      expect(headers['transfer-encoding']).toBe('chunked')
      expect(headers).toMatchObject({ 'cache-control': 'no-store, no-transform', connection: 'close' })
      expect(headers['x-request-id']).toMatch(/^[a-z0-9]+-[a-z0-9]+$/)
      expect(Date.parse(headers.date!)).toBeGreaterThan(0)
    }
  })

  it.each(SERVERS)('is answered with parameters that it ignores: %s', async (server) => {
    const sse = await startSse({ server })
    const streams = await sse.openBoth('?topic=a&_=1&_=2&unknown=x')
    await sse.put('one', 'a')
    for (const stream of streams) {
      await stream.until(1)
      expect(stream.values).toEqual(['one'])
    }
  })

  it.each([
    ['in pieces', (text: string) => text.match(/.{1,7}/gs)!],
    ['split in its last line end', (text: string) => [text.slice(0, -1), text.slice(-1)]],
    ['after a delay', (text: string) => ['', text]],
  ])('is answered if it arrives %s', async (_how, split) => {
    const sse = await startSse()
    const others = await sse.openBoth()
    const stream = await sse.open('', { pieces: split(createWaitText(sse.port, '?topic=pieces')) })
    expect(stream.status).toBe(200)
    await sse.put('whole', 'pieces')
    await stream.until(1)
    await expectUnaffected(sse, others)
  })

  it('is answered on a connection with an earlier request', async () => {
    const sse = await startSse()
    const put = `GET /put?v=first HTTP/1.1\r\nhost: localhost\r\n\r\n`
    const socket = connect(sse.port, '127.0.0.1').setEncoding('latin1')
    let answer = ''
    socket.on('data', (data) => (answer += data))
    socket.write(put)
    await waitUntil(() => answer.endsWith('first'))
    socket.write(createWaitText(sse.port, '?last=1'))
    await waitUntil(() => answer.includes('data: first'))
    socket.destroy()
  })
})

describe('another request', () => {
  const host = 'host: localhost\r\n'
  it.each([
    [
      'pipelined after another',
      `GET /value?topic=none HTTP/1.1\r\n${host}\r\nGET /wait HTTP/1.1\r\n${host}\r\n`,
      /^HTTP\/1.1 404 [^]*HTTP\/1.1 200 /,
    ],
    [
      'a request pipelined behind',
      `GET /wait HTTP/1.1\r\n${host}\r\nGET /version HTTP/1.1\r\n${host}\r\n`,
      /^HTTP\/1.1 200 /,
    ],
    ['HTTP/1.0', `GET /wait HTTP/1.0\r\n${host}\r\n`, /^HTTP\/1.1 200 /],
    ['absolute form', `GET http://localhost/wait HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1.1 /],
    ['two Hosts', `GET /wait HTTP/1.1\r\n${host}host: other\r\n\r\n`, /^HTTP\/1.1 400 [^]*HOST_AMBIGUOUS/],
    ['an empty body', `GET /wait HTTP/1.1\r\n${host}content-length: 0\r\n\r\n`, /^HTTP\/1.1 200 /],
    ['a body', `GET /wait HTTP/1.1\r\n${host}content-length: 2\r\n\r\nxx`, /^HTTP\/1.1 /],
    [
      'a header twice',
      `GET /wait HTTP/1.1\r\n${host}last-event-id: a-1\r\nlast-event-id: a-2\r\n\r\n`,
      /^HTTP\/1.1 200 /,
    ],
  ])('is answered by Fastify: %s', async (_what, text, answer) => {
    const sse = await startSse()
    const others = await sse.openBoth()
    expect(await sendText(sse.port, text, answer)).toMatch(answer)
    await expectUnaffected(sse, others)
  })

  it.each([
    ['bare LF between two Hosts', `GET /wait HTTP/1.1\nhost: localhost\nhost: other\n\n`, 400],
    ['no Host', 'GET /wait HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['a foreign Host', 'GET /wait HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n', 421],
    ['a space before the colon', `GET /wait HTTP/1.1\r\n${host}x : y\r\n\r\n`, 400],
    ['a folded header', `GET /wait HTTP/1.1\r\n${host}x: y\r\n z\r\n\r\n`, 400],
    ['a NUL', `GET /wait HTTP/1.1\r\n${host}x: \0\r\n\r\n`, 400],
    [
      'length and chunks',
      `GET /wait HTTP/1.1\r\n${host}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['a long head', `GET /wait HTTP/1.1\r\n${host}x: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['another version', `GET /wait HTTP/3.7\r\n${host}\r\n`, 400],
    ['another method', `PUT /wait HTTP/1.1\r\n${host}connection: close\r\n\r\n`, 405],
    ['HEAD', `HEAD /wait HTTP/1.1\r\n${host}connection: close\r\n\r\n`, 405],
    ['another path', `GET /waiter HTTP/1.1\r\n${host}connection: close\r\n\r\n`, 404],
    ['a bad escape', `GET /wait?cid=%f HTTP/1.1\r\n${host}connection: close\r\n\r\n`, 400],
    ['garbage', '\x16\x03\x01\x02\0\x01\0', 400],
    ['an incomplete request line', 'GET /wait', 408],
  ])('is refused by Fastify: %s', async (_what, text, status) => {
    const sse = await startSse(status === 408 ? { headersTimeout: 3_000 } : {})
    const others = await sse.openBoth()
    expect(await sendText(sse.port, text)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    await expectUnaffected(sse, others)
  })

  it.each(SERVERS)('after a request for a stream is discarded, and the stream continues: %s', async (server) => {
    const sse = await startSse({ server })
    const others = await sse.openBoth()
    for (const path of ['/wait', VIA_FASTIFY.path]) {
      const stream = await sse.open('', { path })
      stream.socket.write(createWaitText(sse.port).repeat(50))
      stream.socket.write(`GET /put?v=unheard HTTP/1.1\r\n${host}\r\n`)
      stream.socket.write('garbage'.repeat(10_000))
      await waitUntil(() => stream.socket.writableLength === 0)
      const again = await sse.open('', { pieces: [createWaitText(sse.port, '', {}, path).repeat(50)] })
      await waitUntil(async () => (await sse.readMetric('sse_streams')) === others.length + 2)
      await sse.put(path)
      for (const one of [stream, again]) {
        await one.until(1)
        expect(one.values).toEqual([path])
      }
      for (const { socket } of [stream, again]) socket.end()
      await waitUntil(async () => (await sse.readMetric('sse_streams')) === others.length)
    }
    await expectUnaffected(sse, others, ['/wait', VIA_FASTIFY.path])
  })

  it('that never ends is cut within seconds: 500 incomplete heads and 500 silent connections', async () => {
    const sse = await startSse({ headersTimeout: 3_000 })
    const others = await sse.openBoth()
    const sockets: Socket[] = []
    const closed: Promise<unknown>[] = []
    for (let i = 0; i < 1_000; i++) {
      const socket = connect(sse.port, '127.0.0.1')
      socket.on('error', () => {}).resume()
      if (i % 2) socket.write('GET /wait?cid=1 HTTP/1.1\r\nhost: local')
      sockets.push(socket)
      closed.push(new Promise((resolve) => socket.on('close', resolve)))
    }
    const time = startProcessClock()
    await Promise.all(closed)
    expect(time()).toBeLessThan(10_000)
    await expectUnaffected(sse, others)
  })
})

describe('a client that never reads', () => {
  it('is cut at the byte limit, with and without Fastify, and does not affect others', async () => {
    const sse = await startSse({ streamBuffer: 1_000_000 })
    const others = await sse.openBoth()
    const readers = await sse.openBoth()
    const [raw, fastify] = readers
    for (const { socket } of readers) socket.pause()
    const values: string[] = []
    while ((await sse.readMetric('sse_streams_cut_total')) < 2) {
      values.push(`${values.length} ${'x'.repeat(500_000)}`)
      await sse.put(values.at(-1)!)
      if (values.length > 200) throw new Error('nobody was cut')
    }
    await expectUnaffected(sse, others, values)
    for (const { socket } of [raw!, fastify!]) socket.destroy()
    await waitUntil(async () => (await sse.readMetric('sse_streams')) === 2)
  })
})
