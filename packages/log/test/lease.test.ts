import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createLease } from '../src/lease.ts'
import type { LeaseState } from '../src/log.ts'
import type { LeaseRequest } from '../src/order/sequencer.ts'

const TTL_MS = 200

/** Starts a lease with a log that a test controls. */
function startLease(request: (request: LeaseRequest) => Promise<LeaseState>, getRemainingMs = () => 0) {
  const lease = createLease({
    holder: 'own',
    ttl: TTL_MS,
    request,
    getRemainingMs,
    append: async (kind, _, term) => ({ seq: term, outcome: kind as never }),
  })
  onTestFinished(() => lease.close())
  return lease
}

const toOwnLease = (term: number): LeaseState => ({ term, holder: 'own', until: 0 })

it('expires by the clock of the node if the log is unreachable', async () => {
  let requestCount = 0
  const since = performance.now()
  const lease = startLease(async () => {
    if (++requestCount > 1) throw new Error('away')
    return toOwnLease(3)
  })
  await lease.waitUntilHeld()
  expect(lease.term).toBe(3)
  expect(await lease.append(7, Buffer.alloc(0))).toEqual({ seq: 3, outcome: 7 })
  await waitUntil(() => lease.term === undefined, 10 * TTL_MS)
  expect(performance.now() - since).toBeGreaterThanOrEqual(TTL_MS - 1)
  await expect(lease.append(7, Buffer.alloc(0))).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

it('counts its TTL from before the request', async () => {
  let requestCount = 0
  const lease = startLease(async () => {
    requestCount++
    await delay(TTL_MS + 20)
    return toOwnLease(1)
  })
  await waitUntil(() => requestCount === 2)
  expect(lease.term).toBeUndefined()
})

it('requests again at once if it was granted too late, because no other node can hold it meanwhile', async () => {
  let getRemainingMs = 0
  let requestCount = 0
  const lease = startLease(
    async () => {
      getRemainingMs = 60_000
      if (++requestCount === 1) await delay(TTL_MS + 20)
      return toOwnLease(1)
    },
    () => getRemainingMs,
  )
  await lease.waitUntilHeld()
  expect([requestCount, lease.term]).toEqual([2, 1])
})

it('renews in time, and releases on close', async () => {
  const requests: LeaseRequest[] = []
  const lease = startLease(async (request) => (requests.push(request), toOwnLease(1)))
  await waitUntil(() => requests.length >= 4 && lease.term === 1)
  await lease.close()
  expect(requests.at(-1)).toEqual({ holder: 'own', ttl: 0 })
  expect(lease.term).toBeUndefined()
  await expect(lease.waitUntilHeld()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})

it('closes without a reply of the log', async () => {
  let requestCount = 0
  const lease = startLease(() => (++requestCount === 1 ? Promise.resolve(toOwnLease(1)) : new Promise(() => {})))
  await lease.waitUntilHeld()
  await lease.close()
  expect(requestCount).toBe(2)
})

it('closes at once during a request, and releases a lease that may still be granted', async () => {
  const requests: LeaseRequest[] = []
  const lease = startLease((request) => {
    requests.push(request)
    return request.ttl > 0 ? new Promise(() => {}) : Promise.resolve(toOwnLease(1))
  })
  await waitUntil(() => requests.length === 1)
  const closed = lease.close()
  await expect(lease.waitUntilHeld()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  await closed
  expect(requests.map(({ ttl }) => ttl)).toEqual([TTL_MS, 0])
})

it('sends no request while another node holds it', async () => {
  let isFree = false
  const requests: LeaseRequest[] = []
  const lease = startLease(
    async (request) => (requests.push(request), toOwnLease(2)),
    () => (isFree ? 0 : 5),
  )
  await delay(30)
  expect(requests).toEqual([])
  isFree = true
  await lease.waitUntilHeld()
  expect(lease.term).toBe(2)
})

it('acquires it as soon as another node releases it', async () => {
  let remainingMs = 60_000
  const lease = startLease(
    async () => toOwnLease(2),
    () => remainingMs,
  )
  const acquired = lease.waitUntilHeld()
  // The other node has renewed it, so no request is due.
  lease.notifyChange()
  await delay(1)
  expect(lease.term).toBeUndefined()
  remainingMs = 0
  lease.notifyChange()
  await acquired
  expect(lease.term).toBe(2)
})

it('reports the loss on expiry, and not while it is renewed', async () => {
  let requestCount = 0
  const lease = startLease(async () => {
    if (++requestCount > 3) throw new Error('away')
    return toOwnLease(1)
  })
  await lease.waitUntilLost()
  const since = performance.now()
  await lease.waitUntilHeld()
  await lease.waitUntilLost()
  expect(performance.now() - since).toBeGreaterThanOrEqual(TTL_MS)
  // A busy machine may send the request that fails after the expiry.
  await waitUntil(() => requestCount > 3)
  expect(lease.term).toBeUndefined()
})
