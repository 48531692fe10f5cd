import { describe, expect, it, vi } from 'vitest'
import { namesOf, parts } from '../src/parts.ts'
import { createGate } from '../src/store/gate.ts'
import { createStripes, freeStripesOf, stripesMemory } from '../src/store/stripes.ts'
import { storeConformance } from './store.conformance.ts'
import { openLevelStore, openLevelStores } from './support/level-store.ts'
import { countTurns } from './support/turns.ts'

storeConformance('memory', () => parts.store.memory())
for (const commit of namesOf('commit')) {
  const createCommit = parts.commit[commit]
  storeConformance(`level, commit ${commit}`, () => openLevelStore({ createCommit }))
  storeConformance(`level, commit ${commit}, with locks`, () =>
    openLevelStore({ createCommit, stripes: { memory: stripesMemory(), owner: 1 } }),
  )
}

const isHeld = (revision: string | undefined) => revision !== undefined

const put = (key: string, value: string) => ({
  ops: [{ type: 'put' as const, key: Buffer.from(key), value: Buffer.from(value) }],
  durable: false,
})

describe.each(namesOf('commit'))('a write of many changes, commit %s', (commit) => {
  it.each([false, true])('lets others have their turn, with locks: %s', async (locks) => {
    const store = await openLevelStore({
      createCommit: parts.commit[commit],
      ...(locks && { stripes: { memory: stripesMemory(), owner: 1 } }),
    })
    /** How many keys were looked at in each turn of the loop. */
    const looks: number[] = [0]
    const ops = Array.from({ length: 20_000 }, (_, i) => ({
      ...put(`k${i}`, 'x').ops[0]!,
      get key() {
        looks[looks.length - 1]!++
        return Buffer.from(`k${i}`)
      },
    }))
    const large = store.write({ ops, durable: false }, isHeld)
    looks[0] = 0
    const { turns } = await countTurns(
      () => large,
      () => looks.push(0),
    )
    expect(turns).toBeGreaterThan(20)
    expect(Math.max(...looks)).toBeLessThan(3_000)
    expect(store.find('k0')).toBeDefined()
    expect(store.find('k19999')).toBeDefined()
    await store.close()
  })
})

describe('group commit', () => {
  it('makes one batch of what comes in one turn', async () => {
    const onCommit = vi.fn<(writes: number) => void>()
    const store = await openLevelStore({ onCommit })
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.write(put(`k${i}`, 'x'), isHeld)))
    expect(onCommit.mock.calls).toEqual([[50]])
    await store.close()
  })

  it('lets a write that follows a lone one go at once, and those beside it make the next batch', async () => {
    const groups: number[] = []
    const store = await openLevelStore({ onCommit: (writes) => groups.push(writes) })
    const together = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => store.write(put(`k${i}`, 'x'), isHeld)))
    await together(1)
    await together(3)
    await together(3)
    expect(groups).toEqual([1, 1, 2, 3])
    await store.close()
  })

  it('loses no update between two stores that share locks', async () => {
    const stores = await openLevelStores(2)
    const won = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        stores[i % 2]!.write({ ...put(`k${i % 20}`, String(i)), condition: { noneMatch: '*' } }, isHeld),
      ),
    )
    expect(won.filter(Boolean)).toHaveLength(20)
    for (const store of stores) await store.close()
  })
})

describe('a full queue', () => {
  it('lets wait, in order, and refuses after a while', async () => {
    const gate = createGate({ maxBytes: 10, maxWrites: 2, timeout: 30 })
    expect(gate.enter(6)).toBeUndefined()
    const second = gate.enter(6)
    const third = gate.enter(1)
    await expect(second).rejects.toMatchObject({ code: 'WRITE_QUEUE_FULL', headers: { 'retry-after': '1' } })
    await expect(third).rejects.toMatchObject({ code: 'WRITE_QUEUE_FULL' })
    const fourth = gate.enter(10)
    gate.leave(6, 1)
    await fourth
    expect([gate.bytes, gate.writes]).toEqual([10, 1])
    gate.leave(10, 1)
    expect(gate.enter(1_000)).toBeUndefined()
  })
})

describe('stripes', () => {
  it('makes the second wait for the first, and frees what a dead owner held', async () => {
    const memory = stripesMemory()
    const [first, second, third] = [1, 2, 3].map((owner) => createStripes(memory, owner))
    const held = await first!.of([put('a', ''), put('b', ''), put('a', '')])
    expect(held).toHaveLength(2)
    expect(first!.acquire(held)).toBeUndefined()
    const order: string[] = []
    const waiting = second!.acquire(held)!.then(() => order.push('second'))
    await new Promise((resolve) => setImmediate(resolve))
    order.push('first')
    first!.release(held)
    await waiting
    expect(order).toEqual(['first', 'second'])
    const last = third!.acquire(held)!
    freeStripesOf(memory, 2)
    await last
    third!.release(held)
    expect(new Int32Array(memory).every((word) => word === 0)).toBe(true)
  })
})
