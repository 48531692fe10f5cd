import { describe, expect, it, vi } from 'vitest'
import { namesOf, parts } from '../src/parts.ts'
import { createGate } from '../src/store/gate.ts'
import type { LevelStoreOptions } from '../src/store/level.ts'
import { createStripes, freeStripesOf, stripesMemory } from '../src/store/stripes.ts'
import { storeConformance } from './store.conformance.ts'
import { log, openLevelOf } from './support/level.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

const options = (more: Partial<LevelStoreOptions> = {}): LevelStoreOptions => ({
  folder: temporaryFolder(),
  cacheMegabytes: 8,
  createCommit: parts.commit.group,
  maxBytes: 1e7,
  maxWrites: 10_000,
  timeout: 1_000,
  log,
  ...more,
})

storeConformance('memory', () => parts.store.memory())
for (const commit of namesOf('commit')) {
  storeConformance(`level, commit ${commit}`, () => parts.store.level(options({ createCommit: parts.commit[commit] })))
  storeConformance(`level, commit ${commit}, with locks`, () =>
    parts.store.level(options({ createCommit: parts.commit[commit], stripes: { memory: stripesMemory(), owner: 1 } })),
  )
}

const put = (key: string, value: string) => ({
  ops: [{ type: 'put' as const, key: Buffer.from(key), value: Buffer.from(value) }],
  durable: false,
})

describe('group commit', () => {
  it('makes one batch of what comes in one turn', async () => {
    const onCommit = vi.fn<(writes: number) => void>()
    const store = await parts.store.level(options({ onCommit }))
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.write(put(`k${i}`, 'x'))))
    expect(onCommit.mock.calls).toEqual([[50]])
    await store.close()
  })

  it('lets a write that follows a lone one go at once, and those beside it make the next batch', async () => {
    const groups: number[] = []
    const store = await parts.store.level(options({ onCommit: (writes) => groups.push(writes) }))
    const together = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, i) => store.write(put(`k${i}`, 'x'))))
    await together(1)
    await together(3)
    await together(3)
    expect(groups).toEqual([1, 1, 2, 3])
    await store.close()
  })

  it('loses no update between two stores that share locks', async () => {
    const folder = temporaryFolder()
    const main = await openLevelOf(folder)
    const memory = stripesMemory()
    const stores = await Promise.all(
      [1, 2].map((owner) => parts.store.level(options({ folder, share: main.share(), stripes: { memory, owner } }))),
    )
    const won = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        stores[i % 2]!.write({ ...put(`k${i % 20}`, String(i)), condition: { noneMatch: '*' } }),
      ),
    )
    expect(won.filter(Boolean)).toHaveLength(20)
    for (const store of stores) await store.close()
    await main.close()
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
    gate.leave(6)
    await fourth
    expect([gate.bytes, gate.writes]).toEqual([10, 1])
    gate.leave(10)
    expect(gate.enter(1_000)).toBeUndefined()
  })
})

describe('stripes', () => {
  it('makes the second wait for the first, and frees what a dead owner held', async () => {
    const memory = stripesMemory()
    const [first, second, third] = [1, 2, 3].map((owner) => createStripes(memory, owner))
    const held = first!.of([put('a', ''), put('b', ''), put('a', '')])
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
