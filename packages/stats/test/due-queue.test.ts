import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DueQueue } from '../src/refresh/side/due-queue.ts'

describe('a queue of due ids', () => {
  it('returns new ids first, then the one that was read longest ago', () => {
    const queue = new DueQueue(100)
    queue.add('b', 20)
    queue.add('a', 10)
    queue.add('c', 30)
    expect(queue.getDueAt()).toBe(110)
    expect(queue.take(2, 115)).toEqual(['a', 'b'])
    queue.add('new')
    expect(queue.getDueAt()).toBe(-Infinity)
    expect(queue.take(9, 200)).toEqual(['new', 'c'])
    queue.recordRead(['new', 'c'], 200)
    queue.recordRead(['a', 'b'], 115)
    expect(queue.getDueAt()).toBe(215)
    expect(queue.take(9, 240)).toEqual(['a', 'b'])
  })

  it('retries a failed id after a delay that doubles up to the interval', () => {
    const queue = new DueQueue(200_000)
    queue.add('a')
    const delays: number[] = []
    for (let now = 0, i = 0; i < 4; i++) {
      expect(queue.take(1, now)).toEqual(['a'])
      queue.recordFailure(['a'], now)
      delays.push(queue.getDueAt() - now)
      expect(queue.take(1, queue.getDueAt() - 1)).toEqual([])
      now = queue.getDueAt()
    }
    expect(delays).toEqual([60_000, 120_000, 200_000, 200_000])
  })

  it('forgets removed ids, also those in a call', () => {
    const queue = new DueQueue(100)
    queue.add('a')
    queue.take(1, 0)
    queue.remove('a')
    queue.recordRead(['a'], 5)
    queue.recordFailure(['a'], 5)
    expect([queue.size, queue.has('a'), queue.getDueAt()]).toEqual([0, false, Infinity])
  })

  it('has every id in one state, and always takes the oldest: any sequence of operations', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const operation = fc.oneof(
      fc.record({ do: fc.constant('add' as const), id, at: fc.option(fc.nat(500), { nil: undefined }) }),
      fc.record({ do: fc.constant('remove' as const), id }),
      fc.record({ do: fc.constant('prioritize' as const), id }),
      fc.record({ do: fc.constant('take' as const), ok: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const queue = new DueQueue(100)
        const ids = new Set<string>()
        operations.forEach((one, i) => {
          const now = 500 + i * 50
          if (one.do === 'add') {
            queue.add(one.id, one.at)
            ids.add(one.id)
          } else if (one.do === 'remove') {
            queue.remove(one.id)
            ids.delete(one.id)
          } else if (one.do === 'prioritize') queue.prioritize(one.id)
          else {
            const taken = queue.take(2, now)
            expect(new Set(taken).size).toBe(taken.length)
            expect(taken.every((video) => ids.has(video))).toBe(true)
            if (queue.getDueAt() <= now) expect(taken.length).toBe(2)
            if (one.ok) queue.recordRead(taken, now)
            else queue.recordFailure(taken, now)
          }
          expect(queue.size).toBe(ids.size)
        })
      }),
    )
  })
})
