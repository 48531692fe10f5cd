import { startTestNatsServer } from '@influencer-stats/log/testing/nats'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createPrice, startPrices, toUuid } from './support/prices.ts'

it('a node with state serves reads without its servers, and takes changes again with them', async () => {
  const server = await startTestNatsServer()
  const settings = { cluster: server.url, natsReplicas: 1, indexes: 'bitset', data: createTemporaryFolder() }
  const start = async () => {
    const prices = await startPrices(settings)
    onTestFinished(async () => void (await prices.stop()))
    return prices
  }
  const { id, ...price } = createPrice({ id: toUuid(1) })
  const path = `/prices/${id}`
  const first = await start()
  expect((await first.request('PUT', path, price)).status).toBe(201)
  await first.stop()
  await server.stop()
  const prices = await start()
  expect((await prices.request('GET', path)).status).toBe(200)
  expect((await prices.request('GET', '/readyz')).body).toMatchObject({ writes: { code: 'NATS_UNREACHABLE' } })
  expect(await prices.request('PUT', path, price)).toMatchObject({
    status: 503,
    body: { code: 'LOG_UNAVAILABLE', detail: 'NATS_UNREACHABLE' },
  })
  await server.restart()
  await waitUntil(async () => (await prices.request('PUT', path, price)).status === 200)
})
