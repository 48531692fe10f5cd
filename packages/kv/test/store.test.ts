import { createBudgetMemory, createBudget, sumHeldBytes } from '@influencer-stats/runtime/budget'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { getPartNames, parts } from '../src/parts.ts'
import { createWriteLimiter, type WriteLimiter } from '../src/store/write-limiter.ts'
import type { LevelStoreOptions } from '../src/store/level-store.ts'
import { createTtlMemory } from '../src/store/ttl.ts'
import { createMemoryStore } from '../src/store/memory-store.ts'
import { createEphemeralRevisions } from '../src/revisions.ts'
import type { WriteRecorder } from '../src/watch/write-recorder.ts'
import { createKeyLocks, releaseLocksOf, createLockMemory } from '../src/store/key-locks.ts'
import { describeStore } from './store.conformance.ts'
import { noRecorder, openLevelStore, openLevelStores } from './support/level-store.ts'
import { openReplicatedStore, openTestNode } from './support/replicated-store.ts'
import { countTurns } from './support/turns.ts'

describeStore('replicated', openReplicatedStore)
describeStore('memory', async () =>
  createMemoryStore({
    revisions: { memory: createEphemeralRevisions() },
    recorder: noRecorder,
    ttl: createTtlMemory(),
  }),
)
for (const commit of getPartNames('commit')) {
  const createCommit = parts.commit[commit]
  describeStore(`level, commit ${commit}`, () => openLevelStore({ createCommit }))
  describeStore(`level, commit ${commit}, with locks`, () =>
    openLevelStore({ createCommit, keyLocks: { memory: createLockMemory(), owner: 1 } }),
  )
}

const waitTwoTurns = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

const isHeld = (revision: string | undefined) => revision !== undefined

it('replicated: sends the writes that arrive during a request to main together, and completes them on close', async () => {
  const { store, log, close } = await openTestNode()
  const blocked = Promise.withResolvers<void>()
  const append = log.append
  const appendSpy = vi
    .spyOn(log, 'append')
    .mockImplementation(async (...entry) => (await blocked.promise, append(...entry)))
  const put = (key: string) =>
    store.write({ ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from('a') }], durable: false }, isHeld)
  const written = [put('first')]
  await vi.waitFor(() => expect(appendSpy).toHaveBeenCalledTimes(1))
  // On a busy machine, more time may pass than the store waits for further writes.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  written.push(put('second'))
  await waitTwoTurns()
  written.push(put('third'))
  expect(appendSpy).toHaveBeenCalledTimes(1)
  const closed = store.close()
  expect(appendSpy).toHaveBeenCalledTimes(2)
  vi.useRealTimers()
  blocked.resolve()
  expect(await Promise.all(written)).toEqual([true, true, true])
  await closed
  await close()
})

const put = (key: string, value: string) => ({
  ops: [{ type: 'put' as const, key: Buffer.from(key), value: Buffer.from(value) }],
  durable: false,
})

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
    const large = store.write({ ops, durable: false }, isHeld)
    lookups[0] = 0
    const { turns } = await countTurns(
      () => large,
      () => lookups.push(0),
    )
    expect(turns).toBeGreaterThan(20)
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

describe.each(getPartNames('commit'))('a recorder, commit %s', (commit) => {
  it('gets every revision that was taken, of all threads', async () => {
    const recorded: [first: number, count: number, held: number][] = []
    const recorder: WriteRecorder = {
      recordWrites: (first, writes, { effects }) =>
        void recorded.push([first, writes.length, effects.filter(Boolean).length]),
      recordLost: () => void recorded.push([NaN, 0, 0]),
    }
    const stores = await openLevelStores(3, { recorder, createCommit: parts.commit[commit] })
    const isDone = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        stores[i % 3]!.write({ ...put(`k${i % 9}`, 'x'), ...(i % 4 === 0 && { condition: { match: '*' } }) }, isHeld),
      ),
    )
    for (const store of stores) await store.waitUntilSettled!()
    recorded.sort(([a], [b]) => a - b)
    for (const [i, [first]] of recorded.entries())
      if (i > 0) expect(first).toBe(recorded[i - 1]![0] + recorded[i - 1]![1])
    expect(recorded.reduce((sum, [, , blocked]) => sum + blocked, 0)).toBe(isDone.filter(Boolean).length)
    for (const store of stores) await store.close()
  })

  it('is settled once all pending writes are visible', async () => {
    const disk = Promise.withResolvers<void>()
    const store = await openLevelStore({
      createCommit({ level, ...options }) {
        const write = level.writeAhead.bind(level)
        vi.spyOn(level, 'writeAhead').mockImplementation((run) => disk.promise.then(() => write(run)))
        return parts.commit[commit]({ level, ...options })
      },
    })
    const events: string[] = []
    const write = (key: string) => store.write(put(key, 'x'), isHeld).then(() => void events.push(key))
    const settle = (name: string) => store.waitUntilSettled!().then(() => void events.push(name))
    const under = [write('a')]
    await waitTwoTurns()
    // One write is pending, then another waits behind it.
    under.push(settle('of one'), write('b'), settle('of both'))
    await waitTwoTurns()
    expect(events).toEqual([])
    disk.resolve()
    await Promise.all(under)
    const at = (name: string) => events.indexOf(name)
    expect(at('a')).toBeLessThan(at('of one'))
    expect(Math.max(at('a'), at('b'))).toBeLessThan(at('of both'))
    await store.close()
  })

  it('is informed if the result of some writes is unknown', async () => {
    const calls: string[] = []
    const recorder: WriteRecorder = {
      recordWrites: () => void calls.push('wrote'),
      recordLost: () => void calls.push('lost'),
    }
    const store = await openLevelStore({
      recorder,
      createCommit(options) {
        const fails = async () => {
          throw new Error('the disk is full')
        }
        vi.spyOn(options.level, 'writeAhead').mockImplementationOnce(fails)
        return parts.commit[commit](options)
      },
    })
    await expect(store.write(put('k', '1'), isHeld)).rejects.toThrow('the disk is full')
    await store.write(put('k', '2'), isHeld)
    expect(calls).toEqual(['lost', 'wrote'])
    await store.close()
  })
})
