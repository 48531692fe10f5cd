import { createBudgetMemory, createBudget } from '@influencer-stats/runtime/budget'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it, vi } from 'vitest'
import { getPartNames, parts } from '../src/parts.ts'
import type { LevelStoreOptions } from '../src/store/level-store.ts'
import { createTtlMemory } from '../src/store/ttl.ts'
import { createMemoryStore } from '../src/store/memory-store.ts'
import { createEphemeralRevisions } from '../src/revisions.ts'
import { createLockMemory } from '../src/store/key-locks.ts'
import type { KvStore } from '../src/store/store.ts'
import { describeExpiry } from './store-expiry.conformance.ts'
import { describeStore } from './store.conformance.ts'
import { noRecorder, openLevelStore, openLevelStores } from './support/level-store.ts'
import { openReplicatedStore } from './support/replicated-store.ts'
import { countTurns } from './support/turns.ts'
import { isHeld, put } from './support/writes.ts'

const stores: [name: string, open: () => Promise<KvStore>][] = [
  ['replicated', openReplicatedStore],
  [
    'memory',
    async () =>
      createMemoryStore({
        revisions: { memory: createEphemeralRevisions() },
        recorder: noRecorder,
        ttl: createTtlMemory(),
      }),
  ],
  ...getPartNames('commit').flatMap((commit): typeof stores => {
    const createCommit = parts.commit[commit]
    return [
      [`level, commit ${commit}`, () => openLevelStore({ createCommit })],
      [
        `level, commit ${commit}, with locks`,
        () => openLevelStore({ createCommit, keyLocks: { memory: createLockMemory(), owner: 1 } }),
      ],
    ]
  }),
]
for (const [name, open] of stores) {
  describeStore(name, open)
  describeExpiry(name, open)
}

describe.each(getPartNames('commit'))('a write of many changes, commit %s', (commit) => {
  it.each([false, true])('lets other work run, with locks: %s', async (locks) => {
    const store = await openLevelStore({
      createCommit: parts.commit[commit],
      ...(locks && { keyLocks: { memory: createLockMemory(), owner: 1 } }),
    })
    /** Number of keys that are read in each turn of the event loop. */
    const lookups: number[] = [0]
    const ops = Array.from({ length: 20_000 }, (_, i) => ({
      ...put(`k${i}`, 'x').ops[0]!,
      get key() {
        lookups[lookups.length - 1]!++
        return Buffer.from(`k${i}`)
      },
    }))
    const { turns } = await countTurns(
      () => {
        const large = store.write({ ops, durable: false }, isHeld)
        lookups[0] = 0
        return large
      },
      () => lookups.push(0),
    )
    expect(turns).toBeGreaterThan(10)
    expect(Math.max(...lookups)).toBeLessThan(3_000)
    expect(store.find('k0')).toBeDefined()
    expect(store.find('k19999')).toBeDefined()
    await store.close()
  })
})

describe.each(getPartNames('commit'))('a write without a waiting client, commit %s', (commit) => {
  const createCommit = parts.commit[commit]

  it('is visible once a later write is, and is completed by a close', async () => {
    const folder = createTemporaryFolder()
    const store = await openLevelStore({ createCommit, folder })
    expect(store.tryEnqueue!(put('first', '1'))).toBe(true)
    await store.write(put('second', '2'), isHeld)
    expect(store.find('first')).toBeDefined()
    expect(store.tryEnqueue!(put('third', '3'))).toBe(true)
    await store.close()
    const again = await openLevelStore({ createCommit, folder })
    expect(again.find('third')).toBeDefined()
    await again.close()
  })

  it('is refused if the queue is full or the budget is used up', async () => {
    const budget = createBudget(createBudgetMemory(1), 0, 2 * 1_024)
    const store = await openLevelStore({ createCommit, maxWrites: 1, budget })
    expect(store.tryEnqueue!(put('a', 'x'.repeat(10_000)))).toBe(false)
    expect(store.tryEnqueue!(put('a', '1'))).toBe(true)
    expect(store.tryEnqueue!(put('b', '1'))).toBe(false)
    await store.write(put('c', '1'), isHeld)
    expect(store.find('b')).toBeUndefined()
    expect(store.tryEnqueue!(put('b', '1'))).toBe(true)
    await store.close()
  })
})

it('a failure of a write without a waiting client is counted', async () => {
  const onLost = vi.fn<() => void>()
  const createCommit: LevelStoreOptions['createCommit'] = async () => ({
    isOrdered: true,
    submit: async () => {
      throw new Error('the disk is gone')
    },
    async waitUntilSettled() {},
    async waitUntilIdle() {},
  })
  const store = await openLevelStore({ createCommit, onLostWrite: onLost })
  expect(store.tryEnqueue!(put('a', '1'))).toBe(true)
  await vi.waitFor(() => expect(onLost).toHaveBeenCalledTimes(1))
  await store.close()
})

describe('group commit', () => {
  it('makes one batch of the writes of one turn', async () => {
    const onCommit = vi.fn<(writes: number) => void>()
    const store = await openLevelStore({ onCommit })
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.write(put(`k${i}`, 'x'), isHeld)))
    expect(onCommit.mock.calls).toEqual([[50]])
    await store.close()
  })

  it('writes at once after a single write, and batches the writes that arrive meanwhile', async () => {
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
