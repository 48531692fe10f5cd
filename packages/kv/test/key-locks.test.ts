import { describe, expect, it } from 'vitest'
import { createKeyLocks, releaseLocksOf, createLockMemory } from '../src/store/key-locks.ts'
import { put } from './support/writes.ts'

describe('stripes', () => {
  it('does not yield for a write of a few keys', async () => {
    let turned = false
    setImmediate(() => (turned = true))
    await createKeyLocks(createLockMemory(), 1).getStripes(Array.from({ length: 999 }, (_, i) => put(`k${i}`, '')))
    expect(turned).toBe(false)
  })

  it('makes the second owner wait for the first, and frees the locks of a dead owner', async () => {
    const memory = createLockMemory()
    const [first, second, third] = [1, 2, 3].map((owner) => createKeyLocks(memory, owner))
    const blocked = await first!.getStripes([put('a', ''), put('b', ''), put('a', '')])
    expect(blocked).toHaveLength(2)
    expect(first!.acquire(blocked)).toBeUndefined()
    const order: string[] = []
    const waiting = second!.acquire(blocked)!.then(() => order.push('second'))
    await new Promise((resolve) => setImmediate(resolve))
    order.push('first')
    first!.release(blocked)
    await waiting
    expect(order).toEqual(['first', 'second'])
    const last = third!.acquire(blocked)!
    releaseLocksOf(memory, 2)
    await last
    third!.release(blocked)
    expect(new Int32Array(memory).every((word) => word === 0)).toBe(true)
  })
})
