import { setTimeout as delay } from 'node:timers/promises'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { expect, it, onTestFinished } from 'vitest'
import { createLease } from '../src/lease.ts'
import type { LeaseState } from '../src/log.ts'
import type { LeaseRequest } from '../src/order/sequencer.ts'

const TTL_MS = 200

/** A lease whose log does what a test says. */
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

it('ends by its own clock where the log cannot be asked', async () => {
  let requestCount = 0
  const lease = startLease(async () => {
    if (++requestCount > 1) throw new Error('away')
    return toOwnLease(3)
  })
  const since = performance.now()
  await lease.waitUntilHeld()
  expect(lease.term).toBe(3)
  expect(await lease.append(7, Buffer.alloc(0))).toEqual({ seq: 3, outcome: 7 })
  await waitUntil(() => lease.term === undefined, 10 * TTL_MS)
  expect(performance.now() - since).toBeGreaterThanOrEqual(TTL_MS - 1)
  await expect(lease.append(7, Buffer.alloc(0))).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

it('counts its time from before it asked', async () => {
  let requestCount = 0
  const lease = startLease(async () => {
    requestCount++
    await delay(TTL_MS + 20)
    return toOwnLease(1)
  })
  await waitUntil(() => requestCount === 2)
  expect(lease.term).toBeUndefined()
})

it('asks anew at once where it was granted too late: nobody else may have it meanwhile', async () => {
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

it('asks again in time, and gives it up at its end', async () => {
  const requests: LeaseRequest[] = []
  const lease = startLease(async (request) => (requests.push(request), toOwnLease(1)))
  await waitUntil(() => requests.length === 4)
  expect(lease.term).toBe(1)
  await lease.close()
  expect(requests.at(-1)).toEqual({ holder: 'own', ttl: 0 })
  expect(lease.term).toBeUndefined()
  await expect(lease.waitUntilHeld()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})

it('ends though the log does not answer', async () => {
  let requestCount = 0
  const lease = startLease(() => (++requestCount === 1 ? Promise.resolve(toOwnLease(1)) : new Promise(() => {})))
  await lease.waitUntilHeld()
  await lease.close()
  expect(requestCount).toBe(2)
})

it('ends at once though the log has not answered what it asked, and gives up what it may be given yet', async () => {
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

it('does not ask while another has it', async () => {
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

it('takes it as soon as another gives it up', async () => {
  let remainingMs = 60_000
  const lease = startLease(
    async () => toOwnLease(2),
    () => remainingMs,
  )
  const acquired = lease.waitUntilHeld()
  // It stands in the log that somebody has prolonged it, which is no reason to ask.
  lease.notifyChange()
  await delay(1)
  expect(lease.term).toBeUndefined()
  remainingMs = 0
  lease.notifyChange()
  await acquired
  expect(lease.term).toBe(2)
})

it('tells that it is lost, when its time is over, and not while it is prolonged', async () => {
  let requestCount = 0
  const lease = startLease(async () => {
    if (++requestCount > 3) throw new Error('away')
    return toOwnLease(1)
  })
  await lease.waitUntilLost()
  const since = performance.now()
  await lease.waitUntilHeld()
  await lease.waitUntilLost()
  expect(requestCount).toBeGreaterThan(3)
  expect(performance.now() - since).toBeGreaterThanOrEqual(TTL_MS)
  expect(lease.term).toBeUndefined()
})
