import { SERVERS } from '@influencer-stats/runtime/settings'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { HUB } from './support/mercure-client.ts'
import { MERCURE, toBearerHeader } from './support/sign-tokens.ts'
import { startSse } from './support/test-sse.ts'

const TARGETS = ['/wait?topic=t', '/%77ait?topic=t', `${HUB}?match=t`, `${HUB.replace('m', '%6d')}?match=t`]
const variants = SERVERS.flatMap((server) => [1, 2].map((threads) => ({ server, threads })))

describe.each(variants)('streams of server $server with $threads threads', ({ server, threads }) => {
  const start = (settings = {}) =>
    startSse({ server, threads, heartbeat: 50, ...MERCURE, apiToken: 'change', mercureAnonymous: 'on', ...settings })

  it('have one chunk for the opening and for each value, and end with the last chunk', async () => {
    const sse = await start({ heartbeat: 60_000 })
    const streams = await Promise.all(TARGETS.map((path) => sse.open('', { path })))
    for (const { headers } of streams) expect(headers['transfer-encoding']).toBe('chunked')
    await waitUntil(() => streams.every(({ chunks }) => chunks!.chunks === 1))
    const large = 'é'.repeat(500_000)
    for (const [i, value] of ['1', large].entries()) {
      await sse.put(value, 't')
      for (const stream of streams) await stream.until(i + 1)
      for (const { chunks } of streams) expect([chunks!.chunks, chunks!.isWhole]).toEqual([i + 2, true])
    }
    await sse.request('POST', '/closeall', { headers: toBearerHeader('change') })
    for (const { closed, chunks, events } of streams) {
      await closed
      expect(chunks!.isEnded).toBe(true)
      expect(events.map(({ data }) => data)).toEqual(['1', large, 'closed'])
    }
  })

  it('have chunks in replays, and end with the last chunk when the service stops', async () => {
    const sse = await start()
    const id = await sse.put('0', 't')
    const values = Array.from({ length: 50 }, (_, i) => `${i} ${'x'.repeat(i % 2 ? 100 : 20_000)}`)
    for (const value of values) await sse.put(value, 't')
    const streams = await Promise.all(TARGETS.map((path) => sse.open('', { path, headers: { 'last-event-id': id } })))
    for (const stream of streams) {
      await stream.until(values.length)
      expect(stream.values).toEqual(values)
      await waitUntil(() => stream.reader.comments > 1 && stream.chunks!.isWhole)
    }
    const stopped = sse.stop()
    for (const { closed, chunks } of streams) {
      await closed
      expect(chunks!.isEnded).toBe(true)
    }
    await stopped
  })

  it('have no last chunk if they are cut', async () => {
    const sse = await start({ streamBuffer: 100_000 })
    const streams = await Promise.all(TARGETS.map((path) => sse.open('', { path })))
    for (const { socket } of streams) socket.pause()
    // It is NaN while a busy thread does not answer.
    while (!((await sse.readMetric('sse_streams_cut_total')) >= streams.length))
      await sse.put('x'.repeat(1_000_000), 't')
    for (const { socket, closed, chunks } of streams) {
      socket.resume()
      await closed
      expect(chunks!.isEnded).toBe(false)
    }
  })

  it('have no chunks for clients of HTTP/1.0, which get the same values', async () => {
    const sse = await start()
    const modern = await sse.open('?topic=t')
    const olds = TARGETS.map((target) => {
      const socket = connect(sse.port, '127.0.0.1').setEncoding('utf8')
      const old = { text: '', closed: once(socket, 'close') }
      socket.on('data', (text) => (old.text += text))
      socket.write(`GET ${target} HTTP/1.0\r\nhost: localhost\r\n\r\n`)
      return old
    })
    await waitUntil(() => olds.every(({ text }) => text.includes('\nid: ')))
    await sse.put('one', 't')
    await modern.until(1)
    await waitUntil(() => olds.every(({ text }) => text.includes('data: one\n\n') && text.includes('\n:\n')))
    await sse.request('POST', '/closeall', { headers: toBearerHeader('change') })
    for (const { text, closed } of olds) {
      await closed
      expect(text).not.toMatch(/transfer-encoding|\r\n[\da-f]+\r\n/i)
    }
    expect(modern.values).toEqual(['one'])
  })
})
