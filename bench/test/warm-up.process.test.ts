import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { measureAlternating } from '../src/load/alternating.ts'
import { MAX_WARM_UPS, WARM_UP_REQUESTS, warmUpTarget } from '../src/rounds/warm-up.ts'

/** Returns the number of loads of a warm-up, if each gets so many replies. */
async function countLoads(requests: number): Promise<number> {
  let loads = 0
  await warmUpTarget(async (seconds) => {
    expect(seconds).toBe(1)
    loads++
    return { requests }
  }, 2)
  return loads
}

it('a warm-up lasts until the server has sent enough replies', async () => {
  expect(await countLoads(WARM_UP_REQUESTS)).toBe(1)
  expect(await countLoads(WARM_UP_REQUESTS - 1)).toBe(2)
})

it('a warm-up of a slow server ends', async () => {
  expect(await countLoads(1)).toBe(2 * MAX_WARM_UPS)
})

const CONNECTIONS = 4
const SLICE_MS = 25
const REPLY_AFTER_MS = 5
/** Maximum number of requests in a slice. */
const MAX_REQUESTS = CONNECTIONS * (SLICE_MS / REPLY_AFTER_MS + 1)

/** Loads two servers in turn, with one measured slice of each. @returns the number of requests of a server */
async function countRequests(warmUpSlices: number, warmUpRequests?: number): Promise<number> {
  let requests = 0
  const server = createServer((_, response) => {
    requests++
    setTimeout(() => response.end('a'), REPLY_AFTER_MS)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const loaded = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pids: [process.pid],
    requests: [{ method: 'GET', path: '/' }],
    expect: { status: 200, body: 'a' },
    connections: CONNECTIONS,
  }
  const plan = { warmUpSlices, slices: 1, sliceMs: SLICE_MS, ...(warmUpRequests && { warmUpRequests }) }
  await measureAlternating({ ...plan, servers: [loaded, loaded] })
  server.close()
  return requests / 2
}

it('a warm-up in slices ends once each server has enough requests', async () => {
  const requests = await countRequests(1_000, 100)
  expect(requests).toBeGreaterThan(100)
  expect(requests).toBeLessThanOrEqual(100 + 2 * MAX_REQUESTS)
})

it('a warm-up in slices has a maximum', async () => {
  expect(await countRequests(2, 100)).toBeLessThanOrEqual(3 * MAX_REQUESTS)
})
