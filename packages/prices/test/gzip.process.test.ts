import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { once } from 'node:events'
import { request as open, type IncomingMessage } from 'node:http'
import { constants, createGunzip, createGzip, gunzipSync, gzipSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPrice, startPrices, toSearch, toUuid, type TestPrices } from './support/prices.ts'

const BULK_PATH = '/v5/search/bitmap/bulk/prices'
const ALL_PATH = '/v1/search/bitmap/prices?all=true'
const IMPORT_LIMIT = 2_000_000
const LINES = { 'content-type': 'application/x-ndjson' }
const JSON_HEADERS = { 'content-type': 'application/json' }
const allPrices = Array.from({ length: 3_000 }, (_, i) =>
  createPrice({ id: toUuid(i), charValues: [{ char: 'n', value: String(i) }], value: i }),
)
const lines = allPrices.map((price) => `${JSON.stringify(price)}\n`).join('')
const items = allPrices.map((price, i) => JSON.stringify({ id: i, ...toSearch(price) }))

describe.each(['raw', 'node-http', 'fastify'])('gzip, served by %s', (server) => {
  let prices: TestPrices
  beforeAll(async () => {
    prices = await startPrices({ data: createTemporaryFolder(), server, importLimit: IMPORT_LIMIT, threads: 1 })
    await prices.import(allPrices)
  })
  afterAll(() => prices.stop())

  /** Sends a body, and returns the reply as it was sent. */
  async function send(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: Buffer,
    headers: Record<string, string> = {},
  ) {
    const reply = await request(prices.url + path, { method, headers, ...(body && { body }) })
    const bytes = Buffer.from(await reply.body.arrayBuffer())
    const isJson =
      String(reply.headers['content-type']).includes('json') && !String(reply.headers['content-type']).includes('nd')
    return {
      status: reply.statusCode,
      headers: reply.headers,
      bytes,
      json: isJson ? JSON.parse(String(bytes)) : undefined,
    }
  }
  const sendGzip = (method: 'POST' | 'PUT', path: string, body: Buffer, headers: Record<string, string>) =>
    send(method, path, body, { ...headers, 'content-encoding': 'gzip' })

  it('imports, puts and searches by compressed bodies', async () => {
    for (const body of [gzipSync(lines), Buffer.concat([gzipSync(lines.slice(0, 999)), gzipSync(lines.slice(999))])])
      expect((await sendGzip('POST', '/prices/import?replace=true', body, LINES)).json).toEqual({
        imported: 3_000,
        prices: 3_000,
      })
    const price = allPrices[0]!
    const put = await sendGzip('PUT', `/prices/${price.id}`, gzipSync(JSON.stringify(price)), JSON_HEADERS)
    expect(put.json).toMatchObject({ id: price.id, value: 0 })
    const bulk = await sendGzip('POST', BULK_PATH, gzipSync(items.join('')), JSON_HEADERS)
    expect(bulk.headers['content-encoding']).toBeUndefined()
    const answers = String(bulk.bytes)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map(({ id, price: { value } }) => [id, value])).toEqual(allPrices.map((_, i) => [i, i]))
  })

  it('refuses bodies that are damaged, and imports nothing', async () => {
    const before = (await send('GET', '/prices')).bytes
    const whole = gzipSync(lines.replaceAll(/"value":(?=\d)/g, '"value":9'))
    const damaged = Buffer.from(whole)
    damaged[damaged.length - 6]! ^= 1
    const bodies = [
      whole.subarray(0, -1),
      whole.subarray(0, whole.length / 2),
      damaged,
      Buffer.from(lines),
      Buffer.concat([whole, Buffer.from('x')]),
    ]
    for (const body of bodies) {
      const code = { status: 400, json: { code: 'BAD_GZIP' } }
      expect(await sendGzip('POST', '/prices/import?replace=true', body, LINES)).toMatchObject(code)
      expect(await sendGzip('PUT', `/prices/${allPrices[0]!.id}`, body, JSON_HEADERS)).toMatchObject(code)
    }
    const bulk = await sendGzip('POST', BULK_PATH, gzipSync(items.join('')).subarray(0, -1), JSON_HEADERS)
    const answers = String(bulk.bytes)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.at(-1)).toMatchObject({ id: null, error: { code: 'BAD_GZIP', item: answers.length } })
    expect((await send('GET', '/prices')).bytes.equals(before)).toBe(true)
  })

  it.each(['br', 'gzip, gzip', 'gzip, br'])('refuses the content coding %s', async (coding) => {
    for (const [method, path, headers] of [
      ['POST', '/prices/import', LINES],
      ['PUT', `/prices/${toUuid(1)}`, JSON_HEADERS],
      ['POST', BULK_PATH, JSON_HEADERS],
    ] as const) {
      const reply = await send(method, path, gzipSync(lines), { ...headers, 'content-encoding': coding })
      expect(reply).toMatchObject({ status: 415, json: { code: 'CONTENT_ENCODING_UNSUPPORTED' } })
      expect(reply.headers['accept-encoding']).toBe('gzip, identity')
    }
  })

  it('limits the decompressed size', async () => {
    const bomb = gzipSync(Buffer.alloc(2 * IMPORT_LIMIT, ' '))
    const tooLarge = { status: 413, json: { code: 'BODY_TOO_LARGE' } }
    expect(await sendGzip('PUT', `/prices/${toUuid(1)}`, bomb, JSON_HEADERS)).toMatchObject(tooLarge)
    expect(await sendGzip('POST', BULK_PATH, bomb, JSON_HEADERS)).toMatchObject(tooLarge)
    const newlines = gzipSync(Buffer.alloc(2 * IMPORT_LIMIT, '\n'))
    expect(await sendGzip('POST', '/prices/import', newlines, LINES)).toMatchObject(tooLarge)
  })

  it('compresses replies if the client accepts it', async () => {
    const { charValues: _, ...search } = toSearch(allPrices[0]!)
    for (const [method, path, body] of [
      ['GET', '/prices', undefined],
      ['GET', '/prices?format=csv', undefined],
      ['POST', ALL_PATH, Buffer.from(JSON.stringify({ ...search, charValues: [] }))],
      ['POST', BULK_PATH, Buffer.from(items.join(''))],
    ] as const) {
      const plain = await send(method, path, body, { ...JSON_HEADERS, 'accept-encoding': 'gzip;q=0' })
      const zipped = await send(method, path, body, { ...JSON_HEADERS, 'accept-encoding': 'br, gzip' })
      expect(plain.headers['content-encoding']).toBeUndefined()
      expect(zipped.headers['content-encoding']).toBe('gzip')
      for (const { headers } of [plain, zipped]) expect(String(headers['vary'])).toMatch(/accept-encoding/i)
      expect(zipped.bytes.length).toBeLessThan(plain.bytes.length / 3)
      expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true)
    }
  })

  it('answers compressed items while more of them arrive', async () => {
    const message = open(prices.url + BULK_PATH, {
      method: 'POST',
      headers: { ...JSON_HEADERS, 'content-encoding': 'gzip', 'accept-encoding': 'gzip' },
    })
    const gzip = createGzip()
    gzip.pipe(message)
    const replied = once(message, 'response')
    gzip.write(items[0]!)
    gzip.flush(constants.Z_SYNC_FLUSH)
    const [reply] = (await replied) as [IncomingMessage]
    const answers = reply.pipe(createGunzip())[Symbol.asyncIterator]()
    for (const [i, item] of [items[1], items[2], undefined].entries()) {
      const { value: answer } = await answers.next()
      expect(JSON.parse(String(answer))).toMatchObject({ id: i, price: { value: i } })
      if (item) {
        gzip.write(item)
        gzip.flush(constants.Z_SYNC_FLUSH)
      }
    }
    gzip.end()
    expect((await answers.next()).done).toBe(true)
  })
})
