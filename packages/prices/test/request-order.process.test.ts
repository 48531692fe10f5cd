import { SERVERS } from '@influencer-stats/runtime/settings'
import { openRawClient, formatRequest } from '@influencer-stats/runtime/testing/raw-client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createPrice, startPrices } from './support/prices.ts'

const NDJSON_HEADERS = { 'content-type': 'application/x-ndjson' }

async function connect(server: string) {
  const prices = await startPrices({ data: createTemporaryFolder(), server })
  onTestFinished(async () => void (await prices.stop()))
  return openRawClient(Number(new URL(prices.url).port))
}

describe.each(SERVERS)('requests of one connection, served by %s', (server) => {
  test('see the changes before them and none after them', async () => {
    const client = await connect(server)
    const price = createPrice()
    const path = `/prices/${price.id}`
    const get = formatRequest('GET', path)
    const put = (value: number) => formatRequest('PUT', path, {}, JSON.stringify({ ...price, value }))
    client.send(put(1) + get + put(2) + get + formatRequest('DELETE', path) + get)
    const seen: unknown[] = []
    for (let i = 0; i < 6; i++) {
      const { status, body } = await client.reply()
      seen.push(status < 300 && body !== '' ? [status, JSON.parse(body).value] : status)
    }
    expect(seen).toEqual([[201, 1], [200, 1], [200, 2], [200, 2], 204, 404])
  })

  test.each(['/prices/import', '/v5/search/bitmap/bulk/prices'])(
    'get 100 before their body is read as a stream: %s',
    async (path) => {
      const client = await connect(server)
      const line = `${JSON.stringify({ ...createPrice(), charValues: [] })}\n`
      const expecting = { ...NDJSON_HEADERS, expect: '100-continue', 'content-length': String(line.length) }
      client.send(formatRequest('POST', path, expecting))
      expect((await client.reply()).status).toBe(100)
      client.send(line)
      expect((await client.reply()).status).toBe(200)
    },
  )

  test('get no 100 if they are refused before', async () => {
    const expecting = { ...NDJSON_HEADERS, expect: '100-continue', 'content-length': '10' }
    for (const [path, status] of [
      ['/prices/import?replace=perhaps', 400],
      ['/v5/search/none/bulk/prices', 404],
    ] as const) {
      const client = await connect(server)
      client.send(formatRequest('POST', path, expecting))
      expect((await client.reply()).status).toBe(status)
    }
  })
})
