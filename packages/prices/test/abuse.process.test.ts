import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createPrice, toSearch, startPrices, type TestPrices } from './support/prices.ts'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'

const price = createPrice({ charValues: [{ char: 'term', value: '12' }] })
const item = Buffer.from(JSON.stringify({ id: 'a', ...toSearch(price) }))

let prices: TestPrices
beforeAll(async () => {
  prices = await startPrices({ data: createTemporaryFolder() })
  await prices.import([price])
})
afterAll(() => prices.stop())

/** Opens a connection that has sent the head of a request and `body`, of which `length` bytes are announced. */
function sendRequestStart(path: string, length: number, body: Buffer, { url } = prices) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const type = path.includes('/v1/') ? 'application/json' : 'application/x-ndjson'
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`)
  socket.write(body)
  socket.on('error', () => undefined)
  return socket
}

const GIGABYTE_BYTES = 2 ** 30
const BULK_PATH = '/v5/search/bitmap/bulk/prices'
const expectServing = async () => expect(await prices.search(toSearch(price))).toMatchObject({ body: { id: price.id } })

it('refuses a search of a gigabyte before its body arrives', async () => {
  const socket = sendRequestStart('/v1/search/bitmap/prices', GIGABYTE_BYTES, Buffer.alloc(0))
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1\.1 413 /)
  socket.destroy()
})

it('refuses a bulk request with one item of a gigabyte as soon as the item is too long', async () => {
  const socket = sendRequestStart(
    BULK_PATH,
    GIGABYTE_BYTES,
    Buffer.concat([Buffer.from('{"id":"'), Buffer.alloc(200_000, 'x')]),
  )
  const [reply] = await once(socket, 'data')
  expect(String(reply)).toMatch(/^HTTP\/1\.1 413 /)
  expect(String(reply)).toContain('ITEM_TOO_LARGE')
  socket.destroy()
})

it('survives clients that disconnect in the middle', async () => {
  for (const path of [BULK_PATH, '/prices/import?replace=true']) {
    const line = path === BULK_PATH ? item : Buffer.from(`${JSON.stringify(createPrice())}\n`)
    const socket = sendRequestStart(path, GIGABYTE_BYTES, Buffer.concat([line, line.subarray(0, 20)]))
    if (path === BULK_PATH) await once(socket, 'data')
    socket.destroy()
    await once(socket, 'close')
  }
  await expectServing()
  // The import was aborted when its client disconnected, and has no effect.
  let reply = await prices.import([price])
  while (reply.body.code === 'IMPORT_RUNNING') reply = await prices.import([price])
  expect(reply.body).toEqual({ imported: 1, prices: 1 })
})

it('disconnects a client that sends and never reads', async () => {
  const own = await startPrices({ data: createTemporaryFolder(), sendTimeout: 300, clientMemoryLimit: 2_097_152 })
  onTestFinished(async () => void (await own.stop()))
  await own.import([price])
  const socket = sendRequestStart(BULK_PATH, GIGABYTE_BYTES, item, own)
  socket.pause()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const items = Buffer.concat(Array.from({ length: 500 }, () => item))
  const send = () => {
    while (!socket.destroyed && socket.write(items));
  }
  socket.on('drain', send)
  send()
  await closed
  expect(await own.search(toSearch(price))).toMatchObject({ body: { id: price.id } })
})

it('answers a refused import before the rest of it arrives', async () => {
  const lines = `nonsense\n${`${JSON.stringify(price)}\n`.repeat(20_000)}`
  const own = await startPrices({ data: createTemporaryFolder() })
  expect(await own.import([lines])).toMatchObject({ status: 400, body: { code: 'BAD_LINE' } })
  // A shutdown does not wait for the rest either.
  expect(await own.stop()).toBe(true)
})

it('answers 100,000 items in order', async () => {
  const answers = await prices.searchBulk(String(item).repeat(100_000))
  expect(answers).toHaveLength(100_000)
  expect(answers.every((answer) => answer.price.id === price.id)).toBe(true)
})
