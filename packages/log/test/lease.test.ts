import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@influencer-stats/runtime/testing/until'
import { expect, it, onTestFinished } from 'vitest'
import { createLease } from '../src/lease.ts'
import type { LeaseState } from '../src/log.ts'
import type { LeaseRequest } from '../src/order/order.ts'

const TTL = 200

/** A lease whose log does what a test says. */
function leasing(ask: (request: LeaseRequest) => Promise<LeaseState>, left = () => 0) {
  const lease = createLease({
    holder: 'own',
    ttl: TTL,
    ask,
    left,
    append: async (kind, _, term) => ({ seq: term, outcome: kind as never }),
  })
  onTestFinished(() => lease.close())
  return lease
}

const own = (term: number): LeaseState => ({ term, holder: 'own', until: 0 })

it('ends by its own clock where the log cannot be asked', async () => {
  let asked = 0
  const lease = leasing(async () => {
    if (++asked > 1) throw new Error('away')
    return own(3)
  })
  const since = performance.now()
  await lease.held()
  expect(lease.term).toBe(3)
  expect(await lease.append(7, Buffer.alloc(0))).toEqual({ seq: 3, outcome: 7 })
  await until(() => lease.term === undefined, 10 * TTL)
  expect(performance.now() - since).toBeGreaterThanOrEqual(TTL - 1)
  await expect(lease.append(7, Buffer.alloc(0))).rejects.toMatchObject({ code: 'LEASE_LOST' })
})

it('counts its time from before it asked', async () => {
  let asked = 0
  const lease = leasing(async () => {
    asked++
    await delay(TTL + 20)
    return own(1)
  })
  await until(() => asked === 2)
  expect(lease.term).toBeUndefined()
})

it('asks anew at once where it was granted too late: nobody else may have it meanwhile', async () => {
  let left = 0
  let asked = 0
  const lease = leasing(
    async () => {
      left = 60_000
      if (++asked === 1) await delay(TTL + 20)
      return own(1)
    },
    () => left,
  )
  await lease.held()
  expect([asked, lease.term]).toEqual([2, 1])
})

it('asks again in time, and gives it up at its end', async () => {
  const requests: LeaseRequest[] = []
  const lease = leasing(async (request) => (requests.push(request), own(1)))
  await until(() => requests.length === 4)
  expect(lease.term).toBe(1)
  await lease.close()
  expect(requests.at(-1)).toEqual({ holder: 'own', ttl: 0 })
  expect(lease.term).toBeUndefined()
  await expect(lease.held()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})

it('ends though the log does not answer', async () => {
  let asked = 0
  const lease = leasing(() => (++asked === 1 ? Promise.resolve(own(1)) : new Promise(() => {})))
  await lease.held()
  await lease.close()
  expect(asked).toBe(2)
})

it('ends at once though the log has not answered what it asked, and gives up what it may be given yet', async () => {
  const requests: LeaseRequest[] = []
  const lease = leasing((request) => {
    requests.push(request)
    return request.ttl > 0 ? new Promise(() => {}) : Promise.resolve(own(1))
  })
  await until(() => requests.length === 1)
  const closed = lease.close()
  await expect(lease.held()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
  await closed
  expect(requests.map(({ ttl }) => ttl)).toEqual([TTL, 0])
})

it('does not ask while another has it', async () => {
  let isFree = false
  const requests: LeaseRequest[] = []
  const lease = leasing(
    async (request) => (requests.push(request), own(2)),
    () => (isFree ? 0 : 5),
  )
  await delay(30)
  expect(requests).toEqual([])
  isFree = true
  await lease.held()
  expect(lease.term).toBe(2)
})

it('takes it as soon as another gives it up', async () => {
  let others = 60_000
  const lease = leasing(
    async () => own(2),
    () => others,
  )
  const held = lease.held()
  // It stands in the log that somebody has prolonged it, which is no reason to ask.
  lease.changed()
  await delay(1)
  expect(lease.term).toBeUndefined()
  others = 0
  lease.changed()
  await held
  expect(lease.term).toBe(2)
})

it('tells that it is lost, when its time is over, and not while it is prolonged', async () => {
  let asked = 0
  const lease = leasing(async () => {
    if (++asked > 3) throw new Error('away')
    return own(1)
  })
  await lease.lost()
  const since = performance.now()
  await lease.held()
  await lease.lost()
  expect(asked).toBeGreaterThan(3)
  expect(performance.now() - since).toBeGreaterThanOrEqual(TTL)
  expect(lease.term).toBeUndefined()
})
