import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createBucketMemory, TokenBuckets } from '../src/limits/token-buckets.ts'
import { toClientNetwork } from '../src/net/client-network.ts'

const SECOND_NS = 1_000_000_000n

/** Buckets with a clock that the test sets (ns). */
function createBuckets(size: number, window: number, memory = createBucketMemory()) {
  const clock = { now: 1n }
  return { clock, buckets: new TokenBuckets(memory, size, window, () => clock.now) }
}

describe('buckets', () => {
  test('match a model bucket that fills drop by drop, for any requests', () => {
    const step = fc.record({
      wait: fc.nat(3_000),
      client: fc.constantFrom('a', 'b'),
      cost: fc.integer({ min: 1, max: 9 }),
    })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.array(step, { maxLength: 60 }), (size, steps) => {
        // A drop every 100 ms.
        const { clock, buckets } = createBuckets(size * 10, size)
        // Content of the bucket, as the time in which it filled (ms).
        const full = size * 1_000
        const model = new Map<string, { level: number; at: number }>()
        let now = 0
        for (const { wait, client, cost } of steps) {
          now += wait
          clock.now = 1n + BigInt(now) * 1_000_000n
          const before = model.get(client) ?? { level: full, at: now }
          const filled = Math.min(full, before.level + now - before.at)
          const price = Math.min(cost, size * 10) * 100
          const isAllowed = filled >= price
          const remaining = isAllowed ? filled - price : filled
          model.set(client, { level: remaining, at: now })
          const taken = buckets.take(client, cost)
          expect(taken).toEqual({
            isAllowed,
            remaining: Math.floor(remaining / 100),
            fullInS: Math.ceil((full - remaining) / 1_000),
            retryAfterS: isAllowed ? 0 : Math.ceil((price - filled) / 1_000),
          })
        }
      }),
    )
  })

  test('are shared by all users of the memory', () => {
    const memory = createBucketMemory()
    const [one, other] = [createBuckets(4, 60, memory).buckets, createBuckets(4, 60, memory).buckets]
    const taken = Array.from({ length: 6 }, (_, i) => (i % 2 ? one : other).take('a', 1).isAllowed)
    expect(taken).toEqual([true, true, true, true, false, false])
  })

  test('use constant memory for any number of clients, and retain an empty bucket among them', () => {
    const memory = createBucketMemory()
    const { buckets, clock } = createBuckets(100, 100, memory)
    while (buckets.take('greedy', 1).isAllowed);
    const clients = memory.owners.length * 2
    let refused = 0
    for (let i = 0; i < clients; i++) {
      clock.now += 100n
      if (!buckets.take(`client ${i}`, 1).isAllowed) refused++
    }
    expect(refused).toBe(0)
    expect(buckets.take('greedy', 1).isAllowed).toBe(false)
    clock.now += SECOND_NS
    expect(buckets.take('greedy', 1).isAllowed).toBe(true)
  })

  test('a request that costs more than a bucket holds takes all of it', () => {
    const { buckets } = createBuckets(5, 60)
    expect(buckets.take('a', 100)).toMatchObject({ isAllowed: true, remaining: 0, fullInS: 60 })
    expect(buckets.take('a', 1)).toMatchObject({ isAllowed: false, retryAfterS: 12 })
  })
})

test('an IPv6 address shares the bucket of its /64 network', () => {
  expect(
    [
      '10.0.0.1',
      '::ffff:10.0.0.2',
      '::1',
      '2001:db8:1:2:3:4:5:6',
      '2001:db8:1:2::9',
      'fe80::1:2:3:4',
      '2001:DB8:0::',
    ].map(toClientNetwork),
  ).toEqual(['10.0.0.1', '10.0.0.2', '0:0:0:0', '2001:db8:1:2', '2001:db8:1:2', 'fe80:0:0:0', '2001:db8:0:0'])
})
