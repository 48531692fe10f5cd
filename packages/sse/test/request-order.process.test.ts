import { SERVERS } from '@influencer-stats/runtime/settings'
import { openRawClient, formatRequest } from '@influencer-stats/runtime/testing/raw-client'
import { describe, expect, test } from 'vitest'
import { startSse } from './support/test-sse.ts'

const value = formatRequest('GET', '/value')
const text = { 'content-type': 'text/plain' }

describe.each(SERVERS)('pipelined requests, served by %s', (server) => {
  test('see the values of earlier puts, by GET and by POST', async () => {
    const { port } = await startSse({ server })
    const client = await openRawClient(port)
    const puts = Array.from({ length: 20 }, (_, i) =>
      i % 2 ? formatRequest('GET', `/put?v=${i}`) : formatRequest('POST', '/put', text, String(i)),
    )
    client.send(puts.map((put) => put + value).join(''))
    for (let i = 0; i < puts.length; i++) {
      expect(await client.reply()).toMatchObject({ status: 200, body: String(i) })
      expect(await client.reply()).toMatchObject({ status: 200, body: String(i) })
    }
  })

  test('see the effect of an earlier GET of /closeall', async () => {
    const sse = await startSse({ server })
    const streams = await sse.openBoth('?topic=a')
    const client = await openRawClient(sse.port)
    client.send(formatRequest('GET', '/closeall') + formatRequest('GET', '/connections'))
    expect((await client.reply()).body).toBe('closed')
    expect(JSON.parse((await client.reply()).body)).toMatchObject({ streams: 0 })
    for (const stream of streams) await stream.closed
  })
})
