import { SERVERS } from '@influencer-stats/runtime/settings'
import { formatRequest, openRawClient } from '@influencer-stats/runtime/testing/raw-client'
import { describe, expect, it } from 'vitest'
import { EVENT_SOURCE_HEADERS, VIA_FASTIFY } from './support/test-stream.ts'
import { startSse } from './support/test-sse.ts'

const PATHS = ['/wait', VIA_FASTIFY.path]

describe.each(SERVERS)('a stream that begins after the others have ended, because the service stops: %s', (server) => {
  it.each(PATHS)('ends with a reconnection time, and with an id only if it does not resume: %s', async (path) => {
    const sse = await startSse({ server, retry: 1_234 })
    await sse.put('v')
    const other = await sse.open()
    // The connections stay open, because their requests are not complete.
    const clients = await Promise.all(
      [{}, { 'last-event-id': 'e-1' }].map(async (headers) => {
        const { socket, closed, send } = await openRawClient(sse.port)
        let text = ''
        socket.on('data', (part) => (text += part))
        send(formatRequest('POST', '/put', { 'content-length': '2' }) + 'a')
        const next = formatRequest('GET', path, { ...EVENT_SOURCE_HEADERS, ...headers })
        return { send: () => send(`b${next}`), closed, getText: () => text }
      }),
    )
    await sse.put('w')
    const stopped = sse.stop()
    await other.closed
    for (const client of clients) client.send()
    await Promise.all(clients.map(({ closed }) => closed))
    expect(await stopped).toBe(true)
    const bodies = clients.map(({ getText }) => getText().slice(getText().lastIndexOf('HTTP/1.1 200')))
    for (const body of bodies) {
      expect(body).toMatch(/^HTTP\/1\.1 200 [^]*retry: \d+\n[^]*0\r\n\r\n$/)
      expect(body).not.toContain('data:')
    }
    expect(bodies.map((body) => body.includes('\nid: '))).toEqual([true, false])
  })
})
