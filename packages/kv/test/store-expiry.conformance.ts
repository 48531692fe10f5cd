import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WriteCondition } from '../src/core/write-condition.ts'
import { IDEMPOTENCY_TTL_MS, KEY_REUSED } from '../src/core/evaluate-writes.ts'
import type { Op } from '../src/core/change-lines.ts'
import type { KvStore } from '../src/store/store.ts'
import { toDelete, toPut, useStore } from './support/store-under-test.ts'

/** Tests of expiry and idempotency keys that every store must pass. @param open opens a new, empty store */
export function describeExpiry(name: string, open: () => Promise<KvStore>): void {
  describe(`expiry in the store ${name}`, () => {
    const { getStore, submit, write, condition, read, readTag, readAll, keys } = useStore(open)
    const NOW_MS = 1_800_000_000_000
    beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS }))
    afterEach(() => void vi.useRealTimers())

    const expiring = (key: string, value: string, more: { ttl: number } | { expiresAt: number }) =>
      submit({ ops: [{ ...toPut(key, value), ...more } as Op], isSpecial: true, durable: false })
    const named = (idempotencyKey: string, ...ops: Op[]) =>
      submit({ ops, idempotencyKey, isSpecial: true, durable: false })

    it('removes expired values by itself, and no others', async () => {
      await write(toPut('stays', '1'))
      await expiring('a', '1', { ttl: 10_000 })
      await expiring('b', '1', { expiresAt: NOW_MS + 20_000 })
      await expiring('past', '1', { expiresAt: 1 })
      await expiring('again', '1', { ttl: 10_000 })
      await expiring('again', '2', { ttl: 30_000 })
      await expiring('plain', '1', { ttl: 10_000 })
      await write(toPut('plain', '2'))
      await expiring('deleted', '1', { ttl: 10_000 })
      await write(toDelete('deleted'))
      await expiring('swapped', '1', { ttl: 10_000 })
      await condition({ match: [readTag('swapped')] }, toPut('swapped', '2'))
      await submit({
        ops: [{ ...toPut('both', '1'), ttl: 10_000 } as Op, toPut('both', '2')],
        isSpecial: true,
        durable: false,
      })
      await waitUntil(() => read('past') === undefined)
      expect(await keys({ start: Buffer.from('a') })).toEqual(['a', 'again', 'b', 'both', 'plain', 'stays', 'swapped'])
      vi.setSystemTime(NOW_MS + 10_000)
      await waitUntil(() => read('a') === undefined)
      expect(await keys({ start: Buffer.from('a') })).toEqual(['again', 'b', 'both', 'plain', 'stays', 'swapped'])
      vi.setSystemTime(NOW_MS + 40_000)
      await waitUntil(() => read('again') === undefined && read('b') === undefined)
      expect(await keys({ start: Buffer.from('a') })).toEqual(['both', 'plain', 'stays', 'swapped'])
    })

    it('conditions see an expired value as absent before its removal', async () => {
      await expiring('k', '1', { ttl: 10_000 })
      const tag = readTag('k')
      expect(await condition({ noneMatch: '*' }, toPut('k', '2'))).toBeUndefined()
      vi.setSystemTime(NOW_MS + 10_000)
      expect(await condition({ match: [tag] }, toPut('k', '3'))).toBeUndefined()
      expect(await condition({ noneMatch: '*' }, toPut('k', '4'))).toBeDefined()
      // The key has a new value now, which does not expire.
      vi.setSystemTime(NOW_MS + 100_000)
      await expiring('other', '1', { expiresAt: NOW_MS })
      await waitUntil(() => read('other') === undefined)
      expect(read('k')).toBe('4')
    })

    it('shows a value until its time and not from then on, to the millisecond, before it is removed', async () => {
      await write(toPut('a', '1'), toPut('c', '1'), toPut('e', '\xff'))
      await expiring('b', 'x\xff', { ttl: 10_000 })
      await expiring('d', '1', { expiresAt: NOW_MS + 10_000 })
      await expiring('f', '1', { expiresAt: NOW_MS + 10_001 })
      const start = Buffer.from('a')
      vi.setSystemTime(NOW_MS + 9_999)
      expect(['b', 'd', 'f'].map(read)).toEqual(['x\xff', '1', '1'])
      expect(await keys({ start })).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
      expect([getStore().findTimed('b')!.expiresAt, getStore().findTimed('a')!.expiresAt]).toEqual([
        NOW_MS + 10_000,
        undefined,
      ])
      const before = readAll({ start })
      const afterwards = async (limit: number) => (await readAll({ start, limit })).map(([key]) => key)
      vi.setSystemTime(NOW_MS + 10_000)
      // A snapshot shows the state at the time of its creation.
      const later = Promise.all([keys({ start }), ...[1, 2, 3, 9].map(afterwards)])
      expect(['b', 'd', 'f'].map(read)).toEqual([undefined, undefined, '1'])
      expect(getStore().findTimed('b')).toBeUndefined()
      expect((await before).map(([key]) => key)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
      const left = ['a', 'c', 'e', 'f']
      expect(await later).toEqual([left, ...[1, 2, 3, 9].map((limit) => left.slice(0, limit))])
      // The clock moves back: an absent value stays absent.
      vi.setSystemTime(NOW_MS + 5_000)
      expect(read('b')).toBeUndefined()
    })

    it('skips many expired entries, even with a small limit', async () => {
      const ops = Array.from({ length: 12_000 }, (_, i) => ({ ...toPut(`k${i}`, 'x'), ttl: 1_000 }) as Op)
      await submit({ ops: [...ops, toPut('l', '1'), toPut('m', '1')], isSpecial: true, durable: false })
      const start = Buffer.from('k')
      vi.setSystemTime(NOW_MS + 1_000)
      const found = await Promise.all([keys({ start, limit: 1 }), keys({ start })])
      expect(found).toEqual([['l'], ['l', 'm']])
    })

    it('changes the expiry of a value without a change of the value', async () => {
      const expire = (key: string, more: { ttl?: number; expiresAt?: number }, condition?: WriteCondition) =>
        submit({
          ops: [{ type: 'expire', key: Buffer.from(key), ...more }],
          condition,
          isSpecial: true,
          durable: false,
        })
      await write(toPut('a', '1'), toPut('b', '1'))
      await expiring('c', '1', { ttl: 10_000 })
      const tags = ['a', 'b', 'c'].map(readTag)
      const times = () => ['a', 'b', 'c', 'x'].map((key) => getStore().findTimed(key)?.expiresAt)
      expect(await expire('a', { ttl: 5_000 })).toBeDefined()
      expect(await expire('b', { expiresAt: NOW_MS + 7_000 }, { match: [tags[1]!] })).toBeDefined()
      expect(await expire('b', { ttl: 1 }, { match: [tags[2]!] })).toBeUndefined()
      expect(await expire('c', {})).toBeDefined()
      expect(await expire('x', { ttl: 1_000 })).toBeDefined()
      expect(await expire('x', { ttl: 1_000 }, { match: '*' })).toBeUndefined()
      expect(times()).toEqual([NOW_MS + 5_000, NOW_MS + 7_000, undefined, undefined])
      expect(['a', 'b', 'c'].map(readTag)).toEqual(tags)
      vi.setSystemTime(NOW_MS + 6_000)
      expect(await expire('a', { ttl: 5_000 }, { match: '*' })).toBeUndefined()
      expect(await expire('a', { ttl: 5_000 })).toBeDefined()
      expect(['a', 'b', 'c'].map(read)).toEqual([undefined, '1', '1'])
      vi.setSystemTime(NOW_MS + 100_000)
      expect(await keys({ start: Buffer.from('a') })).toEqual(['c'])
    })

    it('a range states the expiries of its entries', async () => {
      await write(toPut('a', '1'), toPut('c', '1'))
      await expiring('b', '1', { ttl: 10_000 })
      await expiring('d', 'x\xff', { expiresAt: NOW_MS + 50_000 })
      const found = await readAll({ start: Buffer.from('a') })
      expect(found.map(([key, , expiresAt]) => [key, expiresAt])).toEqual([
        ['a', undefined],
        ['b', NOW_MS + 10_000],
        ['c', undefined],
        ['d', NOW_MS + 50_000],
      ])
    })

    it('removes many values in slices', async () => {
      const count = 3_000
      const ops = Array.from({ length: count }, (_, i) => ({ ...toPut(`k${i}`, 'x'), ttl: 1_000 }) as Op)
      await submit({ ops, isSpecial: true, durable: false })
      await write(toPut('k', 'stays'))
      vi.setSystemTime(NOW_MS + 1_000)
      await waitUntil(async () => (await keys({ start: Buffer.from('k') })).length === 1)
      expect(read('k')).toBe('stays')
    })

    it('applies a change with an idempotency key once, and repeats its result', async () => {
      const first = await named('n', toPut('k', '1'))
      await write(toPut('k', '2'))
      expect(await named('n', toPut('k', '1'))).toBe(first)
      expect(read('k')).toBe('2')
      expect(await named('n', toPut('k', 'other'))).toBe(KEY_REUSED)
      expect(await named('n', toDelete('k'))).toBe(KEY_REUSED)
      expect(read('k')).toBe('2')
      // Also within one turn.
      const both = await Promise.all([named('m', toPut('m', '1')), write(toPut('m', '2')), named('m', toPut('m', '1'))])
      expect(both[2]).toBe(both[0])
      expect(read('m')).toBe('2')
      // A refused change stays refused, because a copy of it may arrive late.
      const refused = {
        ops: [toPut('once', '1')],
        condition: { match: '*' as const },
        idempotencyKey: 'o',
        isSpecial: true,
      }
      expect(await submit({ ...refused, durable: false })).toBeUndefined()
      await write(toPut('once', '0'))
      expect(await submit({ ...refused, durable: false })).toBeUndefined()
      expect(read('once')).toBe('0')
      expect(await submit({ ...refused, idempotencyKey: 'p', durable: false })).toBeDefined()
      // The record is not a user entry.
      expect(await keys({ start: Buffer.from('\0') })).toEqual(['k', 'm', 'once'])
      vi.setSystemTime(NOW_MS + IDEMPOTENCY_TTL_MS)
      expect(await named('n', toPut('k', 'other'))).not.toBe(KEY_REUSED)
      expect(read('k')).toBe('other')
    })
  })
}
