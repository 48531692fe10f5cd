import { describe, expect, it } from 'vitest'
import { createPublisherClient } from '../src/publisher-client.ts'
import { startSse } from './support/test-sse.ts'

const problem = (status: number, code: string) => ({ status, body: { status, code } })

describe('values', () => {
  it('get the id of their event, and reach the streams of their topic with and without Fastify', async () => {
    const sse = await startSse()
    const streams = await sse.openBoth('?cid=me&topic=a&topic=b')
    const others = await sse.openBoth('?topic=c')
    const got = await sse.request('GET', '/put?v=a+b%2B%C3%A9&topic=a')
    expect(got).toMatchObject({ status: 200, body: 'a b+é' })
    expect(got.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(got.headers.get('x-content-type-options')).toBe('nosniff')
    const id = await sse.put('{"json":true}', 'b')
    for (const stream of streams) {
      await stream.until(2)
      expect(stream.events).toEqual([
        { type: 'message', data: 'a b+é', lastEventId: got.headers.get('event-id') },
        { type: 'message', data: '{"json":true}', lastEventId: id },
      ])
      expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      expect(stream.reader.retry).toBeGreaterThanOrEqual(2_000)
      expect(stream.reader.retry).toBeLessThanOrEqual(4_000)
    }
    for (const { events } of others) expect(events).toEqual([])
    expect(await sse.request('GET', '/value?topic=b')).toMatchObject({ status: 200, body: '{"json":true}' })
    expect(await sse.request('GET', '/value?topic=none')).toMatchObject(problem(404, 'VALUE_NOT_FOUND'))
  })

  it('arrive whole, with any content and any size', async () => {
    const sse = await startSse()
    const streams = await sse.openBoth()
    const values = [
      '',
      ' lead',
      'a\nb\r\nc\rd',
      '</script>\u2028"\'',
      '\ufeffbom 😀 \0',
      'x'.repeat(1_000_000),
      'y'.repeat(4_194_304),
    ]
    for (const value of values)
      expect((await sse.request('POST', '/put', { body: value })).body).toBe(value.replace(/^\ufeff/, ''))
    for (const stream of streams) {
      await stream.until(values.length)
      expect(stream.values).toEqual(values.map((value) => value.replace(/\r\n|\r/g, '\n')))
    }
    expect(await sse.request('POST', '/put', { body: 'z'.repeat(4_194_305) })).toMatchObject(
      problem(413, 'BODY_TOO_LARGE'),
    )
    expect(await sse.request('POST', '/put?v=1', { body: 'z' })).toMatchObject(problem(409, 'DUPLICATE_VALUE'))
    expect(await sse.request('POST', '/put', { body: new Uint8Array([0xff]) })).toMatchObject(
      problem(400, 'VALUE_NOT_UTF8'),
    )
    await sse.put('after')
    for (const stream of streams) {
      await stream.until(values.length + 1)
      expect(stream.values.at(-1)).toBe('after')
    }
  })

  it('of a topic without streams are accepted, and other streams do not get them', async () => {
    const sse = await startSse()
    const [stream] = await sse.openBoth()
    await sse.put('unheard', 'nobody')
    await sse.put('heard')
    await stream!.until(1)
    expect(stream!.values).toEqual(['heard'])
  })

  it.each([
    ['GET', '/put'],
    ['GET', '/put?v=1&v=2'],
    ['GET', '/put?v=%FF'],
    ['GET', '/put?v=%2'],
    ['GET', '/put?v=1&topic='],
    ['GET', '/put?v=1&topic=a&topic=b'],
    ['GET', '/put?v=1&other=1'],
    ['POST', '/put?w=1'],
    ['GET', `/put?v=1&topic=${'t'.repeat(257)}`],
    ['GET', '/value?topic=a&x'],
    ['GET', '/wait?last=yes'],
    ['GET', '/wait?cid=1&cid=2'],
    ['GET', '/wait?topic='],
    ['GET', '/wait?unknown=%FF'],
    ['GET', '/wait?=1'],
    ['GET', `/wait?${'topic=t&'.repeat(501).slice(0, -1)}`],
    ['GET', '/closeall?x=1'],
    ['GET', '/connections?x=1'],
  ])('in a malformed request are refused: %s %s', async (method, path) => {
    const sse = await startSse()
    const [stream] = await sse.openBoth()
    expect(await sse.request(method, path)).toMatchObject(problem(400, 'VALIDATION_FAILED'))
    expect(stream!.ended).toBe(false)
  })

  it('cannot be put by a page of another site or with HEAD', async () => {
    const sse = await startSse()
    const streams = await sse.openBoth()
    for (const path of ['/put?v=evil', '/closeall']) {
      const reply = await sse.request('GET', path, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect(reply).toMatchObject(problem(403, 'CROSS_SITE'))
      expect((await sse.request('HEAD', path)).status).toBe(405)
    }
    await sse.put('good')
    for (const stream of streams) {
      await stream.until(1)
      expect(stream.values).toEqual(['good'])
      expect(stream.ended).toBe(false)
    }
  })

  it('are put by the typed client, which throws the code of a refusal', async () => {
    const sse = await startSse({ apiToken: 'secret' })
    const [stream] = await sse.openBoth('?topic=t')
    const client = createPublisherClient(sse.url, { token: 'secret' })
    const id = await client.put('t', 'value')
    await stream!.until(1)
    expect(stream!.events).toEqual([{ type: 'message', data: 'value', lastEventId: id }])
    const unauthorized = createPublisherClient(sse.url)
    await expect(unauthorized.put('t', 'v')).rejects.toMatchObject({ code: 'UNAUTHORIZED', status: 401 })
    for (const one of [client, unauthorized]) one.close()
    await expect(client.put('t', 'late')).rejects.toThrow()
  })
})
