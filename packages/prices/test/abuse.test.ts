import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { priceOf, searchOf, startPrices, type TestPrices } from './support/prices.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

const price = priceOf({ charValues: [{ char: 'term', value: '12' }] })
const item = Buffer.from(JSON.stringify({ id: 'a', ...searchOf(price) }))

let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: temporaryFolder() })
  await prices.import([price])
})
afterAll(() => prices.stop())

/** A connection that has sent the head of a request and `body`, of which `length` bytes are announced. */
function begin(path: string, length: number, body: Buffer, { url } = prices) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const type = path.includes('/v1/') ? 'application/json' : 'application/x-ndjson'
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`)
  socket.write(body)
  socket.on('error', () => undefined)
  return socket
}

const GIGABYTE = 2 ** 30
const BULK = '/v5/search/bitmap/bulk/prices'
const stillServes = async () => expect(await prices.search(searchOf(price))).toMatchObject({ body: { id: price.id } })

it('refuses a search of a gigabyte before it comes', async () => {
  const socket = begin('/v1/search/bitmap/prices', GIGABYTE, Buffer.alloc(0))
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1\.1 413 /)
  socket.destroy()
})

it('refuses a bulk request that is a gigabyte of one item as soon as that is too long', async () => {
  const socket = begin(BULK, GIGABYTE, Buffer.concat([Buffer.from('{"id":"'), Buffer.alloc(200_000, 'x')]))
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1\.1 413 /)
  expect(String(reply)).toContain('ITEM_TOO_LARGE')
  socket.destroy()
})

it('outlives clients that leave in the middle', async () => {
  for (const path of [BULK, '/prices/import?replace=true']) {
    const line = path === BULK ? item : Buffer.from(`${JSON.stringify(priceOf())}\n`)
    const socket = begin(path, GIGABYTE, Buffer.concat([line, line.subarray(0, 20)]))
    if (path === BULK) await once(socket, 'data')
    socket.destroy()
    await once(socket, 'close')
  }
  await stillServes()
  // The import was given up when its client left, and nothing of it counts.
  let reply = await prices.import([price])
  while (reply.body.code === 'IMPORT_RUNNING') reply = await prices.import([price])
  expect(reply.body).toEqual({ imported: 1, prices: 1 })
})

it('cuts off a client that sends and never reads', async () => {
  const own = await startPrices({ data: temporaryFolder(), sendTimeout: 300 })
  onTestFinished(async () => void (await own.stop()))
  await own.import([price])
  const socket = begin(BULK, GIGABYTE, item, own)
  socket.pause()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const many = Buffer.concat(Array.from({ length: 500 }, () => item))
  const send = () => {
    while (!socket.destroyed && socket.write(many));
  }
  socket.on('drain', send)
  send()
  await closed
  expect(await own.search(searchOf(price))).toMatchObject({ body: { id: price.id } })
})

it('answers an import that is refused while most of it is still to come', async () => {
  const lines = `nonsense\n${`${JSON.stringify(price)}\n`.repeat(20_000)}`
  const own = await startPrices({ data: temporaryFolder() })
  expect(await own.import([lines])).toMatchObject({ status: 400, body: { code: 'BAD_LINE' } })
  // And nothing of it is waited for at the end.
  expect(await own.stop()).toBe(true)
})

it('answers 100,000 items, one after the other', async () => {
  const answers = await prices.bulk(String(item).repeat(100_000))
  expect(answers).toHaveLength(100_000)
  expect(answers.every((answer) => answer.price.id === price.id)).toBe(true)
})
