import { SERVERS } from '@influencer-stats/runtime/settings'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { describe, expect, it } from 'vitest'
import { startSse } from './support/test-sse.ts'

const problem = (status: number, code: string) => ({ status, body: { status, code } })

describe('streams', () => {
  it('begin with the current values on request', async () => {
    const sse = await startSse()
    await sse.put('old', 'a')
    await sse.put('current', 'a')
    await sse.put('other', 'b')
    for (const stream of await sse.openBoth('?last=1&topic=b&topic=a&topic=none')) {
      await stream.until(2)
      expect(stream.values).toEqual(['current', 'other'])
    }
  })

  it('with last=1 get every value exactly once while values are put', async () => {
    const sse = await startSse()
    await sse.put('0')
    let sent = 0
    let putting = true
    const publisher = (async () => {
      while (putting) await sse.put(String(++sent))
    })()
    const streams = []
    for (let i = 0; i < 30; i++) streams.push(...(await sse.openBoth('?last=1')))
    putting = false
    await publisher
    for (const stream of streams) {
      await waitUntil(() => stream.values.at(-1) === String(sent))
      const first = Number(stream.values[0])
      expect(stream.values).toEqual(Array.from({ length: sent - first + 1 }, (_, i) => String(first + i)))
    }
  })

  it('resume after a Last-Event-ID, from the header or the query', async () => {
    const sse = await startSse()
    const ids: string[] = []
    for (const value of ['1', '2', '3']) ids.push(await sse.put(value))
    for (const [id, values] of [
      [ids[0], ['2', '3']],
      [ids[2], []],
    ] as const) {
      const streams = [
        ...(await sse.openBoth('?last=1', { 'last-event-id': id! })),
        ...(await sse.openBoth(`?lastEventId=${id}`)),
      ]
      for (const stream of streams) {
        await waitUntil(() => stream.reader.latestId === ids[2])
        expect(stream.events.map(({ type, data }) => [type, data])).toEqual(values.map((value) => ['message', value]))
      }
    }
  })

  it.each([
    ['of another epoch', (id: string) => `x${id}`],
    ['that was never assigned', (id: string) => id.replace(/-\d+$/, '-999')],
    ['that is malformed', () => 'nonsense'],
    ['that is too large', (id: string) => id.replace(/-\d+$/, '-99999999999999999999')],
  ])('begin with a gap after an id %s', async (_what, change) => {
    const sse = await startSse()
    const [other] = await sse.openBoth()
    const id = await sse.put('1')
    for (const stream of await sse.openBoth('', { 'last-event-id': change(id) })) {
      await stream.until(2)
      expect(stream.events.map(({ type }) => type)).toEqual(['gap', 'message'])
      await waitUntil(() => stream.reader.lastEventId === id)
    }
    expect(other!.values).toEqual(['1'])
  })

  it('begin with a gap if the history is shorter, and continue from there', async () => {
    const sse = await startSse({ historyCount: 2 })
    const ids: string[] = []
    for (const value of ['1', '2', '3', '4']) ids.push(await sse.put(value))
    for (const stream of await sse.openBoth('', { 'last-event-id': ids[0]! })) {
      await stream.until(3)
      expect(stream.events.map(({ type, data }) => [type, data])).toEqual([
        ['gap', ''],
        ['message', '3'],
        ['message', '4'],
      ])
      expect(stream.events[0]!.lastEventId).toBe(ids[1])
    }
  })

  it('end with event: closed on closeall, and its id gets 204', async () => {
    const sse = await startSse()
    const streams = await sse.openBoth('?topic=a')
    await sse.put('last', 'a')
    const { status, headers } = await sse.request('POST', '/closeall')
    expect(status).toBe(200)
    for (const stream of streams) {
      await stream.closed
      expect(stream.events.map(({ type }) => type)).toEqual(['message', 'closed'])
      expect(stream.reader.lastEventId).toBe(headers.get('event-id'))
      for (const again of await sse.openBoth('', { 'last-event-id': stream.reader.lastEventId }))
        expect(again.status).toBe(204)
    }
    await waitUntil(async () => (await sse.request('GET', '/connections')).body.streams === 0)
    const [fresh] = await sse.openBoth('?topic=a')
    await sse.put('again', 'a')
    await fresh!.until(1)
    expect(fresh!.values).toEqual(['again'])
  })

  it('send heartbeats', async () => {
    const sse = await startSse({ heartbeat: 20 })
    for (const stream of await sse.openBoth()) {
      await waitUntil(() => stream.reader.comments >= 3)
      expect(stream.events).toEqual([])
    }
  })

  it('are pages of scripts if the client accepts HTML', async () => {
    const sse = await startSse()
    const streams = await sse.openBoth('?cid=1', { accept: 'text/html,*/*;q=0.8' })
    await sse.put('</script>')
    for (const stream of streams) {
      await waitUntil(() => stream.body.includes('console.log'))
      expect(stream.headers['content-type']).toBe('text/html; charset=utf-8')
      expect(stream.body).toContain('<script>console.log("\\u003c/script\\u003e")</script>')
    }
    expect((await sse.request('GET', '/')).body).toContain("'/wait?cid=1'")
  })

  it('are counted while they are open', async () => {
    const sse = await startSse()
    const streams = await sse.openBoth('?topic=a&topic=default')
    await sse.openBoth()
    const { body } = await sse.request('GET', '/connections')
    expect(body).toMatchObject({
      streams: 4,
      topics: [
        { topic: 'default', streams: 4 },
        { topic: 'a', streams: 2 },
      ],
    })
    expect(await sse.readMetric('sse_streams')).toBe(4)
    expect(await sse.readMetric('sse_topic_streams{topic="default"}')).toBe(4)
    for (const { socket } of streams) socket.destroy()
    await waitUntil(async () => (await sse.readMetric('sse_streams')) === 2)
    expect((await sse.request('GET', '/connections')).body.topics).toEqual([{ topic: 'default', streams: 2 }])
  })

  it('are counted on every thread', async () => {
    const sse = await startSse({ broker: 'threads', threads: 3, server: 'fastify' })
    for (let n = 1; n <= 12; n++) await sse.open('?topic=a')
    const { body } = await sse.request('GET', '/connections')
    expect(body).toMatchObject({ streams: 12, topics: [{ topic: 'a', streams: 12 }] })
    const threads = body.threads.map(({ thread }: { thread: number }) => thread)
    expect(threads).toHaveLength(3)
    expect(threads).toEqual(threads.toSorted((a: number, b: number) => a - b))
  })

  it('do not exceed the limits, in total and per address', async () => {
    for (const settings of [
      { maxStreams: 2, maxStreamsPerAddress: 9 },
      { maxStreamsPerAddress: 2 },
      // One address may have half of all streams.
      { maxStreams: 4 },
    ] as Record<string, number>[]) {
      const sse = await startSse(settings)
      const streams = await sse.openBoth()
      for (const refused of await sse.openBoth()) {
        expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
        expect(JSON.parse(refused.body)).toMatchObject({ code: 'TOO_MANY_STREAMS' })
      }
      streams[0]!.socket.destroy()
      await waitUntil(async () => (await sse.open()).status === 200)
      await sse.put('v')
      await streams[1]!.until(1)
    }
  })

  it('need the read token, in the header or in the query', async () => {
    const sse = await startSse({ readToken: 'read', apiToken: 'change' })
    // A token that allows changes must not be in a URL, because logs and browser histories store URLs.
    for (const query of ['', '?access_token=wrong', '?access_token=change', '?access_token=']) {
      for (const { status } of await sse.openBoth(query)) expect(status).toBe(401)
    }
    for (const { status } of await sse.openBoth('?access_token=read')) expect(status).toBe(200)
    for (const token of ['read', 'change']) {
      for (const { status } of await sse.openBoth('', { authorization: `Bearer ${token}` })) expect(status).toBe(200)
    }
    for (const path of ['/value', '/connections', '/']) expect((await sse.request('GET', path)).status).toBe(401)
    expect(await sse.request('GET', '/put?v=1', { headers: { authorization: 'Bearer read' } })).toMatchObject(
      problem(401, 'UNAUTHORIZED'),
    )
  })

  it('with an unknown Host are refused', async () => {
    const sse = await startSse()
    for (const { status } of await sse.openBoth('', { host: 'evil.example' })) expect(status).toBe(421)
  })

  it('are readable by pages of allowed origins', async () => {
    const sse = await startSse({ corsOrigins: 'https://app.example' })
    const stream = await sse.open('', { headers: { origin: 'https://app.example' } })
    expect(stream.headers['access-control-allow-origin']).toBe('https://app.example')
  })

  it('end with a reconnection time when the service stops', async () => {
    const sse = await startSse({ retry: 1_234 })
    const streams = await sse.openBoth()
    await sse.put('v')
    for (const stream of streams) await stream.until(1)
    const stopped = sse.stop()
    await Promise.all(streams.map(({ closed }) => closed))
    for (const { body } of streams) {
      const retry = Number(/retry: (\d+)\n$/.exec(body)?.[1])
      expect(retry).toBeGreaterThanOrEqual(1_234)
      expect(retry).toBeLessThanOrEqual(2_468)
    }
    expect(await stopped).toBe(true)
  })
})

describe('server adapters', () => {
  it.each(SERVERS)('count every stream once: %s', async (server) => {
    const sse = await startSse({ server })
    await sse.openBoth()
    const { body } = await sse.request('GET', '/metrics')
    const line = String(body)
      .split('\n')
      .find((one) => /_count\{.*"\/wait".*status="200"/.test(one))
    expect(line?.split(' ').at(-1)).toBe('2')
  })
})
