import { describe, expect, it } from 'vitest'
import { Ring } from '../src/history/ring.ts'
import { parts } from '../src/parts.ts'
import { historyConformance } from './history.conformance.ts'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'

const MOST: Record<keyof typeof parts.history, number> = { none: 1, ring: Infinity, level: Infinity }

for (const [name, create] of Object.entries(parts.history)) {
  historyConformance(name, (options) => create({ ...options, folder: temporaryFolder() }), {
    most: MOST[name as keyof typeof MOST],
  })
}

const options = { count: 3, bytes: 1_000, age: 3_600_000, topics: 2, total: 10_000 }
const event = (seq: number, topic: string, value = `v${seq}`) => ({ seq, at: Date.now(), topic, value })

describe('history ring', () => {
  it('goes on from what another one kept, gaps included', () => {
    const first = new Ring(options)
    first.append([1, 2, 3, 4, 5].map((seq) => event(seq, 'a')))
    first.append([event(6, 'b'), event(7, 'c')])
    const second = new Ring(options, structuredClone(first.kept()))
    expect(second.kept()).toEqual(first.kept())
    for (const history of [first, second]) {
      history.append([event(8, 'c')])
      expect(history.since(['a'], 2).complete).toBe(true)
      expect(history.since(['a'], 1).complete).toBe(false)
      expect(history.since(['b'], 6).complete).toBe(true)
      expect(history.since(['b'], 5).complete).toBe(false)
      expect(history.since(['c'], 6).events.map(({ seq }) => seq)).toEqual([7, 8])
    }
  })
})

describe('history level', () => {
  it('keeps epoch, values and gaps over a restart, and gives no place twice', async () => {
    const folder = temporaryFolder()
    const first = await parts.history.level({ ...options, folder })
    for (const seq of [1, 2, 3, 4, 5]) await first.append([event(seq, 'a')])
    await first.append([event(6, 'b')])
    first.skip(9)
    const { epoch } = first
    await first.close()

    const second = await parts.history.level({ ...options, folder })
    expect(second.epoch).toBe(epoch)
    expect(second.seq).toBeGreaterThan(9)
    expect(second.current('b')).toMatchObject({ value: 'v6' })
    expect(second.since(['a'], 2)).toMatchObject({ events: [{ seq: 3 }, { seq: 4 }, { seq: 5 }], complete: true })
    expect(second.since(['a'], 1)).toMatchObject({ complete: false })
    expect(second.since(['b'], 0)).toMatchObject({ events: [{ seq: 6 }], complete: true })
    const next = second.seq + 1
    await second.append([event(next, 'a'), event(next + 1, 'c')])
    await second.append([event(next + 2, 'c')])
    await second.close()

    const third = await parts.history.level({ ...options, folder })
    expect(third.since(['b'], 6)).toMatchObject({ complete: true })
    expect(third.since(['b'], 5)).toMatchObject({ events: [], complete: false })
    await third.close()
  })
})
