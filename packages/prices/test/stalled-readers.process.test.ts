import { formatRequest, openUnreadClient, type UnreadClient } from '@influencer-stats/runtime/testing/raw-client'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { createPrice, startPrices, toSearch, toUuid, type TestPrices } from './support/prices.ts'

// Their lines are more than the system buffers for a connection.
const PRICE_COUNT = 40_000
const long = 'x'.repeat(250)
const EXPORT = '/prices'

async function start(settings: Record<string, number>): Promise<TestPrices> {
  const prices = await startPrices({ data: createTemporaryFolder(), ...settings })
  onTestFinished(async () => void (await prices.stop()))
  await prices.import(Array.from({ length: PRICE_COUNT }, (_, i) => createPrice({ priceSpecId: long, id: toUuid(i) })))
  return prices
}

/** Starts an export or a search for all prices, and reads nothing. */
function stall({ url }: TestPrices, path = EXPORT): Promise<UnreadClient> {
  const body = path === EXPORT ? '' : JSON.stringify(toSearch(createPrice({ priceSpecId: long })))
  return openUnreadClient(url, formatRequest(body ? 'POST' : 'GET', path, {}, body))
}

/** Exports one price, at once or when there is space again. */
async function exportWhenPossible(prices: TestPrices): Promise<unknown> {
  for (;;) {
    const { status, body } = await prices.request('GET', '/prices?limit=1')
    if (status !== 503) return JSON.parse(body).id
  }
}

it('two stalled exports do not block a third', async () => {
  const prices = await start({ sendTimeout: 600_000 })
  await Promise.all([stall(prices), stall(prices)])
  const { status, body } = await prices.request('GET', EXPORT)
  expect([status, String(body).trim().split('\n').length]).toEqual([200, PRICE_COUNT])
})

it.each(['/v1/search/bitmap/prices?all=true', EXPORT])('cuts a client that does not read %s', async (path) => {
  const prices = await start({ sendTimeout: 300 })
  const { cut } = await stall(prices, path)
  await expect(cut()).resolves.toBe(true)
})

async function readFirstPiece(prices: TestPrices) {
  const reader = (await fetch(prices.url + EXPORT, { headers: { 'accept-encoding': 'identity' } })).body!.getReader()
  await reader.read()
  return reader
}

it('an export waits for free memory, except for the first two', async () => {
  const prices = await start({ clientMemoryLimit: 1_048_576, sendTimeout: 600_000 })
  const [first, second] = [await readFirstPiece(prices), await readFirstPiece(prices)]
  const refused = await prices.request('GET', EXPORT)
  expect(refused).toMatchObject({ status: 503, body: { code: 'TOO_MANY_EXPORTS' } })
  expect(refused.headers.get('retry-after')).toBe('5')
  await first.cancel()
  expect(await exportWhenPossible(prices)).toBe(toUuid(0))
  await second.cancel()
})

it('a client that reads nothing more releases its memory when it is cut', async () => {
  const prices = await start({ clientMemoryLimit: 1_048_576, sendTimeout: 1_000 })
  for (let i = 0; i < 2; i++) await readFirstPiece(prices)
  expect(await exportWhenPossible(prices)).toBe(toUuid(0))
})
