import { until } from '@influencer-stats/runtime/testing/until'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DUE_END, dueKey, duePosition, readDue, type Due } from '../src/core/own-keys.ts'
import { parts } from '../src/parts.ts'
import type { KvLevel } from '../src/store/commit.ts'
import { Expiring, expiryMemory } from '../src/store/expiries.ts'
import type { Store, Write } from '../src/store/store.ts'
import { createSweeper, type SweeperOptions } from '../src/store/sweeper.ts'
import { openLevelStore } from './support/level-store.ts'

/** Keys in the order of their times. A deleted key stays and costs a step to each reader that passes it, as in LevelDB. */
class DueList {
  readonly keys: string[] = []
  readonly deleted = new Set<string>()
  steps = 0

  add({ time, key }: Due): void {
    const text = dueKey(time, key).toString('latin1')
    this.keys.splice(this.#indexOf(text), 0, text)
  }

  get left(): number {
    return this.keys.length - this.deleted.size
  }

  async from(position: Buffer, limit: number): Promise<Due[]> {
    const found: Due[] = []
    for (let i = this.#indexOf(position.toString('latin1')); i < this.keys.length && found.length < limit; i++) {
      this.steps++
      if (!this.deleted.has(this.keys[i]!)) found.push(readDue(Buffer.from(this.keys[i]!, 'latin1')))
    }
    return found
  }

  remove({ ops: [op], condition }: Write): void {
    this.deleted.add(dueKey(condition!.due!, op!.key).toString('latin1'))
  }

  #indexOf(text: string): number {
    let low = 0
    for (let high = this.keys.length; low < high;) {
      const middle = (low + high) >> 1
      if (this.keys[middle]! < text) low = middle + 1
      else high = middle
    }
    return low
  }
}

const dueOf = (time: number, i: number): Due => ({ time, key: Buffer.from(`k${String(i).padStart(7, '0')}`) })

function sweep(list: DueList, more: Partial<SweeperOptions> = {}): Expiring {
  const expiring = new Expiring(expiryMemory())
  expiring.begin()
  const sweeper = createSweeper({
    expiring,
    due: (...from) => list.from(...from),
    async write(one, answer) {
      list.remove(one)
      return answer('revision')
    },
    ...more,
  })
  onTestFinished(() => sweeper.close())
  return expiring
}

const expiriesOf = ({ time, key }: Due) => new Map([['', { key, before: undefined, after: time }]])

describe('a sweep', () => {
  it.each([[20_000], [100_000]])('takes as many steps for a key among %d as among few', async (count) => {
    const list = new DueList()
    // All keys have one time. Later reads begin after keys that the sweep has deleted.
    for (let i = 0; i < count; i++) list.keys.push(dueKey(2_000, dueOf(0, i).key).toString('latin1'))
    sweep(list)
    await until(() => list.left === 0)
    expect(list.steps).toBeLessThan(1.1 * count)
  })

  it('removes what is written with an earlier time meanwhile, and nothing that is not due', async () => {
    const list = new DueList()
    for (let i = 0; i < 1_000; i++) list.add(dueOf(2_000, i))
    list.add(dueOf(Date.now() + 1e9, 0))
    let looks = 0
    const expiring = sweep(list, {
      async due(...from) {
        const found = await list.from(...from)
        if (++looks === 3) {
          list.add(dueOf(1_000, 5))
          expiring.wrote(expiriesOf(dueOf(1_000, 5)))
        }
        return found
      },
    })
    await until(() => list.left === 1)
    expect(list.keys.filter((key) => !list.deleted.has(key))).toEqual([list.keys.at(-1)])
  })

  it('goes on where it was after writes that failed, and looks at nothing while none is taken', async () => {
    const list = new DueList()
    for (let i = 0; i < 500; i++) list.add(dueOf(2_000, i))
    let writes = 0
    let faults = 0
    const looked = vi.fn<SweeperOptions['due']>((...from) => list.from(...from))
    const fault = { code: 'DISK_FULL' } as unknown as ReturnType<NonNullable<Store['fault']>>
    sweep(list, {
      due: looked,
      async write(one, answer) {
        if (++writes === 300) throw new Error('the disk is full')
        list.remove(one)
        return answer('revision')
      },
      fault() {
        if (writes < 300 || ++faults > 3) return undefined
        expect(looked.mock.calls.length).toBeLessThanOrEqual(5)
        return fault
      },
    })
    await until(() => list.left === 0)
    expect(faults).toBeGreaterThan(3)
    // The sweep does not start again from the beginning.
    expect(looked.mock.calls.filter(([position]) => position.equals(duePosition(0)))).toHaveLength(1)
  })

  it('is made by another thread where one has ended with it', async () => {
    const list = new DueList()
    const expiring = sweep(list)
    list.add(dueOf(2_000, 1))
    expect(expiring.takeFirstDue()).toBeDefined()
    expect(expiring.takeFirstDue()).toBeUndefined()
    expiring.forgetFirstDue()
    await until(() => list.left === 0)
  })
})

describe('a store in LevelDB', () => {
  const NOW = 1_800_000_000_000
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: NOW }))
  afterEach(() => void vi.useRealTimers())

  const put = (key: string, ttl: number) =>
    ({ type: 'put', key: Buffer.from(key), value: Buffer.from('x'), ttl }) as const

  async function open(): Promise<{ store: Store; level: KvLevel }> {
    const opened = Promise.withResolvers<KvLevel>()
    const store = await openLevelStore({
      createCommit(options) {
        opened.resolve(options.level)
        return parts.commit.group(options)
      },
    })
    return { store, level: await opened.promise }
  }

  it('reads the few entries of a range behind many that have expired in few slices', async () => {
    const { store, level } = await open()
    const ops = [...Array.from({ length: 10_000 }, (_, i) => put(`k${i}`, 1_000)), put('l', 100_000), put('m', 100_000)]
    await store.write({ ops, isSpecial: true, durable: false }, () => undefined)
    vi.setSystemTime(NOW + 1_000)
    const looks = vi.spyOn(level.db, 'iterator')
    const snapshot = store.snapshot()
    const scan = snapshot.scan({ start: Buffer.from('k'), limit: 1 })
    expect((await scan.next()).map(([key]) => key)).toEqual(['l'])
    expect(await scan.next()).toEqual([])
    expect(looks.mock.calls.length).toBeLessThan(25)
    await scan.close()
    await snapshot.close()
    await store.close()
  })

  it('does nothing while nothing is due, also after a sweep', async () => {
    const { store, level } = await open()
    const ops = [...Array.from({ length: 1_000 }, (_, i) => put(`k${i}`, 1_000)), put('late', 100_000)]
    await store.write({ ops, isSpecial: true, durable: false }, () => undefined)
    const ticks = async (count: number) => {
      for (let i = 0; i < count; i++) {
        vi.advanceTimersByTime(200)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await ticks(10)
    await until(() => (vi.advanceTimersByTime(200), level.db.getSync(Buffer.from('k999')) === undefined))
    await until(async () => (await level.db.keys({ gte: duePosition(0), lt: DUE_END }).all()).length === 1)
    const looks = (['keys', 'iterator', 'getSync', 'get'] as const).map((name) => vi.spyOn(level.db, name))
    await ticks(50)
    for (const look of looks) expect(look).not.toHaveBeenCalled()
    await until(() => (vi.advanceTimersByTime(10_000), level.db.getSync(Buffer.from('late')) === undefined))
    await store.close()
  })
})
