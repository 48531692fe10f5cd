import { ChunkReader } from '@influencer-stats/runtime/testing/chunk-reader'
import { SERVERS } from '@influencer-stats/runtime/settings'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { start } from './support/cluster-nodes.ts'

/** Opens a stream with a socket, and collects the bytes of its reply. */
function openStream(url: string, version: string, target = '/v0/watch?progress=true') {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const pieces: Buffer[] = []
  socket.on('data', (bytes) => void pieces.push(bytes))
  socket.write(`GET ${target} HTTP/${version}\r\nhost: localhost\r\n\r\n`)
  const read = () => Buffer.concat(pieces).toString()
  return {
    closed: once(socket, 'close'),
    head: () => read().split('\r\n\r\n', 1)[0]!,
    body: () => read().split('\r\n\r\n').slice(1).join('\r\n\r\n'),
  }
}

/** Returns the content of a reply with chunks. */
function readChunks(body: string): { text: string; reader: ChunkReader } {
  const reader = new ChunkReader()
  return { text: reader.feed(Buffer.from(body)).toString(), reader }
}

describe.each(SERVERS)('streams of changes, server %s', (server) => {
  it('have chunks, in replays too, and end with the last chunk', async () => {
    const kv = await start({ server, watchHeartbeat: 20 })
    const live = openStream(kv.url, '1.1')
    await waitUntil(() => live.body().includes('id: '))
    const { text: opening } = readChunks(live.body())
    const after = /id: (\d+)/.exec(opening)![1]
    await kv.client.put('a', 'ä'.repeat(1_000))
    await kv.client.put('b', '2')
    const replay = openStream(kv.url, '1.1', `/v0/watch?after=${after}`)
    for (const stream of [live, replay]) {
      await waitUntil(() => stream.body().includes('"2"'))
      expect(stream.head().toLowerCase()).toContain('transfer-encoding: chunked')
    }
    await kv.stop()
    for (const { closed, body } of [live, replay]) {
      await closed
      const { text, reader } = readChunks(body())
      expect(reader.isEnded).toBe(true)
      expect(text).toContain(`"value":"${'ä'.repeat(1_000)}"`)
      expect(text.match(/^event: put$/gm)).toHaveLength(2)
    }
  })

  it('have no block without an event, unless the client asks for progress', async () => {
    const kv = await start({ server, watchHeartbeat: 20 })
    const { body } = openStream(kv.url, '1.0', '/v0/watch')
    await waitUntil(() => body().includes(':\n:\n'))
    await kv.client.put('a', '1')
    await waitUntil(() => /\n\n:\n/.test(body()))
    await kv.stop()
    expect(body()).toMatch(/^retry: \d+\n(:\n)+event: put\ndata: .*"1"}\nid: \d+\n\n(:\n)+$/)
  })

  it('have no chunks for clients of HTTP/1.0, which get the same changes', async () => {
    const kv = await start({ server, watchHeartbeat: 20 })
    const modern = openStream(kv.url, '1.1')
    const old = openStream(kv.url, '1.0')
    await waitUntil(() => [modern, old].every(({ body }) => body().includes('id: ')))
    await kv.client.put('a', '1')
    await waitUntil(() => [modern, old].every(({ body }) => body().includes('event: put')))
    await waitUntil(() => /"1"[^]*\n\nid: \d+\n\n/.test(old.body()))
    await kv.stop()
    await old.closed
    expect(old.head().toLowerCase()).not.toContain('transfer-encoding')
    expect(old.body()).toMatch(/^retry: \d+\n(id: \d+\n\n)+event: put\ndata: .*"1"}\n(id: \d+\n\n)+$/)
  })
})
