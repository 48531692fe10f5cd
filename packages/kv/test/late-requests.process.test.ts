import { SERVERS } from '@influencer-stats/runtime/settings'
import { formatRequest, openRawClient } from '@influencer-stats/runtime/testing/raw-client'
import { describe, expect, it } from 'vitest'
import { start } from './support/cluster-nodes.ts'
import { openEventStream } from './support/event-stream.ts'

const VALUE_BYTES = 1_048_576
const VALUES = 20

describe.each(SERVERS)('a request after the streams have ended, because the service stops, server %s:', (server) => {
  it.each([
    ['/v0/watch?progress=true', /\r\n\r\n[\da-f]+\r\nretry: \d+\n\r\n0\r\n\r\n$/],
    ['/v0/%77atch', /\r\n\r\n[\da-f]+\r\nretry: \d+\n\r\n0\r\n\r\n$/],
    // It is answered to its end.
    ['/v0/entities?start=k', /x[^x]{0,200}\r\n0\r\n\r\n$/],
  ])('GET %s', async (target, pattern) => {
    const kv = await start({ server })
    for (let i = 0; i < VALUES; i++) await kv.client.put(`k${i}`, Buffer.alloc(VALUE_BYTES, 'x'))
    const other = await openEventStream(`${kv.url}/v0/watch?progress=true`)
    const { socket, closed, send } = await openRawClient(Number(new URL(kv.url).port))
    let text = ''
    socket.on('data', (part) => (text += part))
    // The connection stays open, because its request is not complete.
    send(formatRequest('PUT', '/v0/entity?id=a', { 'content-length': '2' }) + 'a')
    await kv.client.put('b', '1')
    const stopped = kv.stop()
    await other.ended
    send(`b${formatRequest('GET', target)}`)
    await closed
    const reply = text.slice(text.lastIndexOf('HTTP/1.1 '))
    expect(reply).toMatch(/^HTTP\/1\.1 200 /)
    expect(reply.slice(0, 1_000) + reply.slice(-1_000)).toMatch(pattern)
    if (target.includes('entities')) expect(reply.length).toBeGreaterThan(VALUES * VALUE_BYTES)
    expect(await stopped).toBe(true)
  })
})
