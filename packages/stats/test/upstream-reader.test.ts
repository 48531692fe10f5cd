import { expect, it, onTestFinished, vi } from 'vitest'
import { createSilentLogger } from '../src/logger/silent.ts'
import { QuotaMeter } from '../src/quota/quota-meter.ts'
import { createUpstreamReader, getCallResults } from '../src/refresh/upstream-reader.ts'
import { FakeClient } from './support/fake-client.ts'
import { createNumbers } from './support/video-numbers.ts'

const known = { videos: [createNumbers('a', 5)], missing: [], asOf: 1_000 }
const collection = { id: 'c', videos: ['a', 'b'], revision: 1 }

function setUp(budget: number, snapshot?: typeof known) {
  const client = new FakeClient()
  const meter = new QuotaMeter(QuotaMeter.createMemory(), budget)
  const collections = { state: { getSnapshot: () => snapshot }, saveSnapshot: async () => {} }
  const logger = createSilentLogger()
  const reader = createUpstreamReader({ collections, client, meter, logger, retryAfter: 1, interval: 1, timeout: 50 })
  return { client, reader }
}

it('retries no more often than the budget spreads its calls', async () => {
  const { client, reader } = setUp(100, known)
  client.down = true
  for (let i = 0; i < 20; i++) {
    const { snapshot, failed } = await reader.read(collection)
    expect(failed).toBe(true)
    expect(snapshot).toEqual({ ...known, unknown: ['b'] })
  }
  expect(client.calls).toHaveLength(1)
})

it('never treats the read of an empty collection as a reply of YouTube', async () => {
  const { client, reader } = setUp(0, known)
  client.down = true
  await reader.read(collection)
  const { outage } = getCallResults(reader.circuit)
  expect(outage).toMatchObject({ state: 'failing' })
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 61_000)
  onTestFinished(() => clock.mockRestore())
  await reader.read({ ...collection, videos: [] })
  expect(getCallResults(reader.circuit)).toMatchObject({ outage: { state: 'failing' }, hasSucceeded: false })
  expect(client.calls).toHaveLength(1)
})

it('waits no longer than its timeout, and returns the last known numbers, if any', async () => {
  const { client, reader } = setUp(0, known)
  client.hold = new Promise(() => {})
  expect((await reader.read(collection)).snapshot).toEqual({ ...known, unknown: ['b'] })
  const other = setUp(0)
  other.client.hold = new Promise(() => {})
  await expect(other.reader.read(collection)).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
    headers: { 'retry-after': '1' },
  })
})
