import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DUE_END, toDueKey, toDuePosition, decodeDueKey, type DueKey } from '../src/core/internal-keys.ts'
import { parts } from '../src/parts.ts'
import type { KvLevel } from '../src/store/commit.ts'
import { TtlState, createTtlMemory } from '../src/store/ttl.ts'
import type { KvStore, KvWrite } from '../src/store/store.ts'
import { createSweeper, type SweeperOptions } from '../src/store/sweeper.ts'
import { openLevelStore } from './support/level-store.ts'

/**
 * Keys in the order of their times. A deleted key remains and costs a step to each reader that passes it, as in
 * LevelDB.
 */
class DueList {
  readonly keys: string[] = []
  readonly deleted = new Set<string>()
  steps = 0

  add({ time, key }: DueKey): void {
    const text = toDueKey(time, key).toString('latin1')
    this.keys.splice(this.#findIndex(text), 0, text)
  }

  get left(): number {
    return this.keys.length - this.deleted.size
  }

  async listFrom(position: Buffer, limit: number): Promise<DueKey[]> {
    const found: DueKey[] = []
    for (let i = this.#findIndex(position.toString('latin1')); i < this.keys.length && found.length < limit; i++) {
      this.steps++
      if (!this.deleted.has(this.keys[i]!)) found.push(decodeDueKey(Buffer.from(this.keys[i]!, 'latin1')))
    }
    return found
  }

  remove({ ops: [op], condition }: KvWrite): void {
    this.deleted.add(toDueKey(condition!.due!, op!.key).toString('latin1'))
  }

  #findIndex(text: string): number {
    let low = 0
    for (let high = this.keys.length; low < high;) {
      const middle = (low + high) >> 1
      if (this.keys[middle]! < text) low = middle + 1
      else high = middle
    }
    return low
  }
}

const createDue = (time: number, i: number): DueKey => ({ time, key: Buffer.from(`k${String(i).padStart(7, '0')}`) })

function startSweep(list: DueList, more: Partial<SweeperOptions> = {}): TtlState {
  const ttl = new TtlState(createTtlMemory())
  ttl.enable()
  const sweeper = createSweeper({
    ttl,
    readDueKeys: (...listFrom) => list.listFrom(...listFrom),
    async write(one, answer) {
      list.remove(one)
      return answer('revision')
    },
    ...more,
  })
  onTestFinished(() => sweeper.close())
  return ttl
}

const createExpiries = ({ time, key }: DueKey) => new Map([['', { key, before: undefined, after: time }]])

describe('a sweep', () => {
  it.each([[20_000], [100_000]])('takes as many steps per key among %d as among few', async (count) => {
    const list = new DueList()
    // All keys have one time. Later reads begin after keys that the sweep has deleted.
    for (let i = 0; i < count; i++) list.keys.push(toDueKey(2_000, createDue(0, i).key).toString('latin1'))
    startSweep(list)
    await waitUntil(() => list.left === 0)
    expect(list.steps).toBeLessThan(1.1 * count)
  })

  it('also removes values that are written with an earlier time meanwhile, and only due ones', async () => {
    const list = new DueList()
    for (let i = 0; i < 1_000; i++) list.add(createDue(2_000, i))
    list.add(createDue(Date.now() + 1e9, 0))
    let lookups = 0
    const ttl = startSweep(list, {
      async readDueKeys(...listFrom) {
        const found = await list.listFrom(...listFrom)
        if (++lookups === 3) {
          list.add(createDue(1_000, 5))
          ttl.onWritten(createExpiries(createDue(1_000, 5)))
        }
        return found
      },
    })
    await waitUntil(() => list.left === 1)
    expect(list.keys.filter((key) => !list.deleted.has(key))).toEqual([list.keys.at(-1)])
  })

  it('continues at its position after failed writes, and does not search while writes fail', async () => {
    const list = new DueList()
    for (let i = 0; i < 500; i++) list.add(createDue(2_000, i))
    let writes = 0
    let faults = 0
    const lookedUp = vi.fn<SweeperOptions['readDueKeys']>((...listFrom) => list.listFrom(...listFrom))
    const fault = { code: 'DISK_FULL' } as unknown as ReturnType<NonNullable<KvStore['getFault']>>
    startSweep(list, {
      readDueKeys: lookedUp,
      async write(one, answer) {
        if (++writes === 300) throw new Error('the disk is full')
        list.remove(one)
        return answer('revision')
      },
      getFault() {
        if (writes < 300 || ++faults > 3) return undefined
        expect(lookedUp.mock.calls.length).toBeLessThanOrEqual(5)
        return fault
      },
    })
    await waitUntil(() => list.left === 0)
    expect(faults).toBeGreaterThan(3)
    // The sweep does not start again from the beginning.
    expect(lookedUp.mock.calls.filter(([position]) => position.equals(toDuePosition(0)))).toHaveLength(1)
  })

  it('is taken over by another thread if its thread ends', async () => {
    const list = new DueList()
    const ttl = startSweep(list)
    list.add(createDue(2_000, 1))
    expect(ttl.takeFirstDue()).toBeDefined()
    expect(ttl.takeFirstDue()).toBeUndefined()
    ttl.resetFirstDue()
    await waitUntil(() => list.left === 0)
  })
})

describe('a store in LevelDB', () => {
  const NOW_MS = 1_800_000_000_000
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: NOW_MS }))
  afterEach(() => void vi.useRealTimers())

  const put = (key: string, ttl: number) =>
    ({ type: 'put', key: Buffer.from(key), value: Buffer.from('x'), ttl }) as const

  async function openStore(): Promise<{ store: KvStore; level: KvLevel }> {
    const opened = Promise.withResolvers<KvLevel>()
    const store = await openLevelStore({
      createCommit(options) {
        opened.resolve(options.level)
        return parts.commit.group(options)
      },
    })
    return { store, level: await opened.promise }
  }

  it('reads the few entries after many expired ones in few slices', async () => {
    const { store, level } = await openStore()
    const ops = [...Array.from({ length: 10_000 }, (_, i) => put(`k${i}`, 1_000)), put('l', 100_000), put('m', 100_000)]
    await store.write({ ops, isSpecial: true, durable: false }, () => undefined)
    vi.setSystemTime(NOW_MS + 1_000)
    const lookups = vi.spyOn(level.db, 'iterator')
    const snapshot = store.snapshot()
    const scan = snapshot.scan({ start: Buffer.from('k'), limit: 1 })
    expect((await scan.next()).map(([key]) => key)).toEqual(['l'])
    expect(await scan.next()).toEqual([])
    expect(lookups.mock.calls.length).toBeLessThan(25)
    await scan.close()
    await snapshot.close()
    await store.close()
  })

  it('does nothing while no value is due, even after a sweep', async () => {
    const { store, level } = await openStore()
    const ops = [...Array.from({ length: 1_000 }, (_, i) => put(`k${i}`, 1_000)), put('late', 100_000)]
    await store.write({ ops, isSpecial: true, durable: false }, () => undefined)
    const waitTicks = async (count: number) => {
      for (let i = 0; i < count; i++) {
        vi.advanceTimersByTime(200)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await waitTicks(10)
    await waitUntil(() => (vi.advanceTimersByTime(200), level.db.getSync(Buffer.from('k999')) === undefined))
    await waitUntil(async () => (await level.db.keys({ gte: toDuePosition(0), lt: DUE_END }).all()).length === 1)
    const lookups = (['keys', 'iterator', 'getSync', 'get'] as const).map((name) => vi.spyOn(level.db, name))
    await waitTicks(50)
    for (const lookup of lookups) expect(lookup).not.toHaveBeenCalled()
    await waitUntil(() => (vi.advanceTimersByTime(10_000), level.db.getSync(Buffer.from('late')) === undefined))
    await store.close()
  })
})
