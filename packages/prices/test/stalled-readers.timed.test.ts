import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { expect, it, onTestFinished } from 'vitest'
import { createPrice, startPrices, toUuid } from './support/prices.ts'

const SEND_TIMEOUT_MS = 10_000
/** Time until the buffers of a connection are full (ms). */
const FILL_MS = 5_000

it('stalled exports are cut within the send timeout', async () => {
  // So little memory that a third export waits for the end of the others.
  const settings = { clientMemoryLimit: 1_048_576, sendTimeout: SEND_TIMEOUT_MS }
  const prices = await startPrices({ data: createTemporaryFolder(), ...settings })
  onTestFinished(async () => void (await prices.stop()))
  const long = 'x'.repeat(250)
  await prices.import(Array.from({ length: 40_000 }, (_, i) => createPrice({ priceSpecId: long, id: toUuid(i) })))
  const began = performance.now()
  // These clients read the first piece only.
  const headers = { 'accept-encoding': 'identity' }
  for (let i = 0; i < 2; i++) await (await fetch(`${prices.url}/prices`, { headers })).body!.getReader().read()
  let refusedAt = 0
  for (let elapsed = 0; elapsed < 2 * SEND_TIMEOUT_MS; elapsed = performance.now() - began)
    if ((await prices.request('GET', '/prices?limit=1')).status === 503) refusedAt = elapsed
  expect(refusedAt).toBeGreaterThan(SEND_TIMEOUT_MS / 2)
  expect(refusedAt).toBeLessThan(SEND_TIMEOUT_MS + FILL_MS)
})
