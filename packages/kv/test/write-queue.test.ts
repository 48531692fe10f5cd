import { createBudgetMemory, createBudget, sumHeldBytes } from '@influencer-stats/runtime/budget'
import { describe, expect, it } from 'vitest'
import { getPartNames, parts } from '../src/parts.ts'
import { createWriteLimiter, type WriteLimiter } from '../src/store/write-limiter.ts'
import { openLevelStore, openLevelStores } from './support/level-store.ts'
import { put } from './support/writes.ts'

/** Enters a gate: undefined if it has capacity, else a promise of the entry. */
const enter = (limiter: WriteLimiter, bytes: number) =>
  limiter.tryEnter(bytes) ? undefined : limiter.enter(bytes, () => {})

describe('a full queue', () => {
  it('lets a waiting write enter before any later one', async () => {
    const limiter = createWriteLimiter({ maxBytes: 10, maxWrites: 1, timeout: 60_000 })
    const entered: string[] = []
    expect(limiter.tryEnter(1)).toBe(true)
    const first = limiter.enter(1, () => entered.push('first'))
    limiter.release(1, 1)
    expect(entered).toEqual(['first'])
    expect(limiter.tryEnter(1)).toBe(false)
    await first
  })

  it('preserves the order of writes in any mix of starts', async () => {
    const stores = await openLevelStores(2, { maxWrites: 3 })
    const store = stores[0]!
    expect(store.isOrdered).toBe(true)
    const key = Buffer.from('k')
    const steps = [
      { ops: [{ type: 'put', key, value: key }], condition: { noneMatch: '*' }, durable: false },
      { ops: [{ type: 'del', key }], condition: { match: '*' }, durable: false },
    ] as const
    let begun = 0
    let blocked = 0
    const done: Promise<unknown>[] = []
    /** Starts `count` writes at once, and more after each reply. */
    function begin(count: number): void {
      for (let i = 0; i < count && begun < 400; i++) {
        const answered = store.write(steps[begun++ % 2]!, (revision) => void (revision !== undefined && blocked++))
        done.push(answered.then(() => begin(1 + (begun % 2))))
      }
    }
    begin(5)
    for (let i = 0; i < done.length; i++) await done[i]
    expect([begun, blocked]).toEqual([400, 400])
    for (const one of stores) await one.close()
  })

  it('lets writes wait in order, and refuses them after a while', async () => {
    const limiter = createWriteLimiter({ maxBytes: 10, maxWrites: 2, timeout: 30 })
    expect(enter(limiter, 6)).toBeUndefined()
    const second = enter(limiter, 6)
    const third = enter(limiter, 1)
    await expect(second).rejects.toMatchObject({ code: 'WRITE_QUEUE_FULL', headers: { 'retry-after': '1' } })
    await expect(third).rejects.toMatchObject({ code: 'WRITE_QUEUE_FULL' })
    const fourth = enter(limiter, 10)
    limiter.release(6, 1)
    await fourth
    expect([limiter.bytes, limiter.writes]).toEqual([10, 1])
    limiter.release(10, 1)
    expect(enter(limiter, 1_000)).toBeUndefined()
  })
})

describe('a queue', () => {
  it('takes waiting writes from the budget, and releases them when they are written or refused', async () => {
    const memory = createBudgetMemory(1)
    const budget = createBudget(memory, 0, 8_192)
    const limiter = createWriteLimiter({ maxBytes: 4_096, maxWrites: 10, timeout: 30, budget })
    expect(enter(limiter, 4_096)).toBeUndefined()
    const waiting = enter(limiter, 3_072)
    await expect(enter(limiter, 2_048)).rejects.toMatchObject({ code: 'MEMORY_FULL' })
    expect(sumHeldBytes(memory)).toBe(7_168)
    await expect(waiting).rejects.toMatchObject({ code: 'WRITE_QUEUE_FULL' })
    expect(sumHeldBytes(memory)).toBe(4_096)
    limiter.release(4_096, 1)
    expect(sumHeldBytes(memory)).toBe(0)
  })

  it.each(getPartNames('commit'))(
    'of commit %s releases as much as it took, for any result of the writes',
    async (commit) => {
      const memory = createBudgetMemory(1)
      const store = await openLevelStore({
        createCommit: parts.commit[commit],
        budget: createBudget(memory, 0, 1_048_576),
      })
      const ops = (i: number) => ({
        ...put(`k${i}`, 'x'.repeat(i * 7)),
        ...(i % 3 === 0 && { condition: { match: '*' as const } }),
      })
      const writes = Array.from({ length: 100 }, (_, i) => store.write(ops(i), () => undefined))
      expect(sumHeldBytes(memory)).toBeGreaterThan(100 * 1_024 - 1)
      await Promise.all(writes)
      expect(sumHeldBytes(memory)).toBe(0)
      await store.close()
    },
  )
})
