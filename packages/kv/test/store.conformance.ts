import fc from 'fast-check'
import { createKeys } from '@influencer-stats/runtime/testing/utf8-keys'
import { waitUntil } from '@influencer-stats/runtime/testing/wait-until'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { WriteCondition } from '../src/core/write-condition.ts'
import type { StoredEntry } from '../src/lines/entry-chunks.ts'
import { KEY_REUSED, IDEMPOTENCY_TTL_MS } from '../src/core/evaluate-writes.ts'
import type { Op } from '../src/core/change-lines.ts'
import { getEtag, toEtag, getValue } from '../src/core/stored-value.ts'
import type { KvRange, KvScan, KvStore, KvWrite } from '../src/store/store.ts'

const toPut = (key: string, value: string): Op => ({ type: 'put', key: Buffer.from(key), value: Buffer.from(value) })
const toDelete = (key: string): Op => ({ type: 'del', key: Buffer.from(key) })

/** Tests that every store must pass. @param open opens a new, empty store */
export function describeStore(name: string, open: () => Promise<KvStore>): void {
  describe(`store ${name}`, () => {
    let store: KvStore
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    /** Resolves with the revision; `undefined` if the condition did not hold. */
    const submit = (one: KvWrite) => store.write(one, (revision) => revision)
    const write = (...ops: Op[]) => submit({ ops, durable: false })
    const condition = (condition: object, ...ops: Op[]) => submit({ ops, condition, durable: false })
    const find = (key: string) => {
      const stored = store.find(key)
      return stored === undefined ? undefined : Buffer.from(getValue(stored))
    }
    const read = (key: string) => find(key)?.toString()
    const readTag = (key: string) => getEtag(store.find(key)!)

    async function readAll(range: KvRange): Promise<StoredEntry[]> {
      const snapshot = store.snapshot()
      const found = await readRest(snapshot.scan(range))
      await snapshot.close()
      return found
    }
    async function readRest(scan: KvScan): Promise<StoredEntry[]> {
      const found: StoredEntry[] = []
      for (let slice = await scan.next(); slice.length > 0; slice = await scan.next()) found.push(...slice)
      await scan.close()
      return found
    }
    const keys = async (range: KvRange) => (await readAll(range)).map(([key]) => key)

    it('returns the last write, durable or not', async () => {
      expect(read('a')).toBeUndefined()
      await write(toPut('a', '1'))
      await submit({ ops: [toPut('a', '2')], durable: true })
      expect(read('a')).toBe('2')
      await write(toPut('a', ''))
      expect(read('a')).toBe('')
      await write(toDelete('a'), toDelete('never there'))
      expect(read('a')).toBeUndefined()
    })

    it('finds values of any kind under keys of any kind, one after another', async () => {
      const values = [
        Buffer.from('text'),
        Buffer.alloc(0),
        Buffer.from('\ufeffключ\0🎈'),
        Buffer.from([0xff, 0xfd]),
        Buffer.from('what stands for no text: \ufffd'),
        Buffer.alloc(50_000, 'x'),
        Buffer.alloc(50_000, 0xff),
      ]
      const keys = values.map((_, i) => ['k', 'ключ', 'a b%', '\0', '🎈', 'x'.repeat(1_024), '\ufffd'][i]!)
      await write(...values.map((value, i): Op => ({ type: 'put', key: Buffer.from(keys[i]!), value })))
      // Reads each pair of values in sequence: a value must not affect the next read.
      for (let i = 0; i < values.length; i++) {
        for (let j = 0; j < values.length; j++) {
          expect(find(keys[i]!)).toEqual(values[i])
          expect(find(keys[j]!)).toEqual(values[j])
          expect(store.find('never there')).toBeUndefined()
        }
      }
    })

    it('finds exactly each key of 1 to 1,024 bytes, after any earlier reads', async () => {
      const keys = Array.from({ length: 1_024 }, (_, i) => createKeys(i + 1)).flat()
      const stored = keys.filter((_, i) => i % 2 === 0)
      await write(...stored.map((key) => toPut(key, key)))
      const isStored = new Set(stored)
      const check = (some: readonly string[]) =>
        expect(some.filter((key) => read(key) !== (isStored.has(key) ? key : undefined))).toEqual([])
      check(keys.map((_, i) => keys[(i * 7_919) % keys.length]!))
      check(keys)
      check(keys.toReversed())
      for (const key of stored.filter((_, i) => i % 97 === 0)) {
        const [start, end] = [Buffer.from(key), Buffer.from(`${key}\0`)]
        expect((await readAll({ start, end })).map(([found, value]) => [found, String(value)])).toEqual([[key, key]])
        expect(await condition({ match: [readTag(key)] }, toDelete(key))).toBeDefined()
        expect(read(key)).toBeUndefined()
      }
    })

    it('applies the changes of one write in order', async () => {
      await write(toPut('a', '1'), toDelete('a'), toPut('b', '1'), toPut('b', '2'))
      expect([read('a'), read('b')]).toEqual([undefined, '2'])
    })

    it('writes only if the condition holds', async () => {
      expect(await condition({ match: '*' }, toPut('a', 'x'))).toBeUndefined()
      const tag = toEtag((await condition({ noneMatch: '*' }, toPut('a', '1')))!)
      expect(await condition({ noneMatch: '*' }, toPut('a', 'x'))).toBeUndefined()
      expect(await condition({ match: ['"x"'] }, toDelete('a'))).toBeUndefined()
      expect([read('a'), readTag('a')]).toEqual(['1', tag])
      expect(await condition({ match: ['"x"', tag] }, toPut('a', '2'), toPut('b', '2'))).toBeDefined()
      expect(await condition({ match: [tag] }, toPut('a', 'x'), toPut('b', 'x'))).toBeUndefined()
      expect([read('a'), read('b')]).toEqual(['2', '2'])
    })

    it('gives every write a unique revision, which its values have', async () => {
      const given = await Promise.all([
        ...Array.from({ length: 300 }, (_, i) => write(toPut(`k${i % 7}`, 'same'))),
        ...Array.from({ length: 30 }, (_, i) => condition({ match: '*' }, toPut(`k${i % 7}`, 'same'))),
        ...Array.from({ length: 30 }, (_, i) =>
          write(toPut(`k${i % 7}`, 'same'), toDelete('x'), toPut('both', 'same')),
        ),
      ])
      expect(new Set(given).size).toBe(given.length)
      expect(readTag('both')).toBe(toEtag(given.at(-1)!))
      for (const one of given) expect(one).toMatch(/^[\w-]{8}$/)
      const last = await write(toPut('a', '1'), toPut('a', 'same'), toPut('b', 'same'))
      expect([readTag('a'), readTag('b')]).toEqual([toEtag(last!), toEtag(last!)])
    })

    it('a condition on a value fails after a new write, even of the same bytes', async () => {
      for (const between of [[], [toPut('a', 'B')], [toDelete('a')], [toPut('a', 'B'), toDelete('a')]]) {
        await write(toPut('a', 'A'))
        const tag = readTag('a')
        for (const op of between) await write(op)
        await write(toPut('a', 'A'))
        expect(await condition({ match: [tag] }, toPut('a', 'C'))).toBeUndefined()
        expect(await condition({ noneMatch: [tag] }, toPut('a', 'A'))).toBeDefined()
        // In one turn, too: each write is evaluated after the one before it.
        const now = readTag('a')
        const both = await Promise.all([write(toPut('a', 'A')), condition({ match: [now] }, toPut('a', 'C'))])
        expect(both.map((one) => one !== undefined)).toEqual([true, false])
      }
    })

    it('shows exactly the written entries, from the first key on', async () => {
      const first = '\0'
      const last = '\u{10ffff}'.repeat(256)
      await write(toPut(first, 'first'), toPut(last, 'last'))
      expect((await readAll({ start: Buffer.from(first) })).map(([key, value]) => [key, String(value)])).toEqual([
        [first, 'first'],
        [last, 'last'],
      ])
    })

    it('lets one of many concurrent creations of a key succeed, before and after plain writes', async () => {
      const make = (value: string) => condition({ noneMatch: '*' }, toPut('k', value))
      const won = await Promise.all(Array.from({ length: 20 }, (_, i) => make(String(i))))
      expect(won.filter(Boolean)).toHaveLength(1)
      expect(read('k')).toBe(String(won.findIndex(Boolean)))
      const [, late] = await Promise.all([write(toPut('m', 'plain')), make('x')])
      expect([late, read('m')]).toEqual([undefined, 'plain'])
    })

    it('loses no concurrent compare-and-swap', async () => {
      await write(toPut('n', '0'))
      async function add(): Promise<void> {
        for (;;) {
          const now = store.find('n')!
          if (await condition({ match: [getEtag(now)] }, toPut('n', String(Number(getValue(now)) + 1)))) return
        }
      }
      await Promise.all(Array.from({ length: 25 }, add))
      expect(read('n')).toBe('25')
    })

    it('scans the state at the start of the scan', async () => {
      await Promise.all(
        Array.from({ length: 5_000 }, (_, i) => write(toPut(`k${String(i).padStart(5, '0')}`, 'old'.repeat(100)))),
      )
      await write(toPut('last', 'old'))
      const snapshot = store.snapshot()
      const scan = snapshot.scan({ start: Buffer.from('k') })
      const first = await scan.next()
      await write(toPut('k04999', 'new'), toPut('k04999a', 'new'), toDelete('last'))
      const found = [...first, ...(await readRest(scan))]
      await scan.close()
      const inSnapshot = (key: string) => getValue(snapshot.find(Buffer.from(key))!.stored).toString()
      expect([inSnapshot('k04999'), inSnapshot('last')]).toEqual(['old'.repeat(100), 'old'])
      expect(snapshot.find(Buffer.from('k04999a'))).toBeUndefined()
      expect((await readRest(snapshot.scan({ start: Buffer.from('k04998') }))).map(([key]) => key)).toEqual([
        'k04998',
        'k04999',
        'last',
      ])
      await snapshot.close()
      expect(found).toHaveLength(5_001)
      expect(found.at(-2)![1].toString()).toBe('old'.repeat(100))
      expect(found.at(-1)!.map(String)).toEqual(['last', 'old'])
    })

    it('scans values that are not text unchanged, at any position', async () => {
      const value = (i: number) => (i === 4_000 ? Buffer.from([0xff, 0xfd]) : Buffer.from('\ufeff\u00e9'.repeat(50)))
      const id = (i: number) => `k${String(i).padStart(5, '0')}`
      const ops = Array.from({ length: 5_000 }, (_, i): Op => ({
        type: 'put',
        key: Buffer.from(id(i)),
        value: value(i),
      }))
      await write(...ops)
      for (const limit of [undefined, 4_000, 4_002]) {
        const found = await readAll({ start: Buffer.from('k'), limit })
        expect(found.map(([key]) => key)).toEqual(ops.slice(0, limit).map((_, i) => id(i)))
        expect(found.every(([, remaining], i) => value(i).equals(Buffer.from(remaining)))).toBe(true)
        const reversed = await readAll({ start: Buffer.from('k'), limit, reverse: true })
        const last = ops.slice(-(limit ?? ops.length)).toReversed()
        expect(reversed.map(([key]) => key)).toEqual(last.map(({ key: one }) => one.toString()))
        expect(
          reversed.every(([, remaining], i) => (last[i] as { value: Buffer }).value.equals(Buffer.from(remaining))),
        ).toBe(true)
      }
    })

    it('agrees with a sorted list of bytes, for any writes and queries', async () => {
      const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 2 }).map((text) => Buffer.from(text))
      const value = fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes))
      const op = fc.oneof(
        fc.record({ type: fc.constant('put' as const), key, value }),
        fc.record({ type: fc.constant('del' as const), key }),
      )
      const range = fc.record({
        start: key,
        end: fc.option(key, { nil: undefined }),
        limit: fc.integer({ min: 1, max: 9 }),
      })
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(op, { minLength: 1, maxLength: 4 }), { maxLength: 12 }),
          range,
          async (writes, requested) => {
            const old = await readAll({ start: Buffer.from([0]) })
            if (old.length > 0) await write(...old.map(([known]): Op => toDelete(known)))
            const model = new Map<string, Buffer>()
            await Promise.all(writes.map((ops) => write(...ops)))
            for (const one of writes.flat()) {
              if (one.type === 'put') model.set(one.key.toString('latin1'), one.value)
              else model.delete(one.key.toString('latin1'))
            }
            const expected = [...model.keys()]
              .map((text) => Buffer.from(text, 'latin1'))
              .sort(Buffer.compare)
              .filter(
                (one) =>
                  Buffer.compare(one, requested.start) >= 0 &&
                  (!requested.end || Buffer.compare(one, requested.end) < 0),
              )
              .slice(0, requested.limit)
            const found = await readAll(requested)
            expect(found.map(([found]) => found)).toEqual(expected.map(String))
            for (const [one, remaining] of found) {
              expect(Buffer.from(remaining)).toEqual(model.get(Buffer.from(one).toString('latin1')))
            }
          },
        ),
        { numRuns: 60 },
      )
    })

    it('excludes the end of a range, and returns no entry if the end is before the start', async () => {
      await write(toPut('a', '1'), toPut('b', '2'), toPut('c', '3'))
      const at = (text: string) => Buffer.from(text)
      expect(await keys({ start: at('a'), end: at('c') })).toEqual(['a', 'b'])
      expect(await keys({ start: at('aa') })).toEqual(['b', 'c'])
      expect(await keys({ start: at('c'), end: at('a') })).toEqual([])
    })

    describe('with a clock', () => {
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
        expect(await keys({ start: Buffer.from('a') })).toEqual([
          'a',
          'again',
          'b',
          'both',
          'plain',
          'stays',
          'swapped',
        ])
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
        expect([store.findTimed('b')!.expiresAt, store.findTimed('a')!.expiresAt]).toEqual([NOW_MS + 10_000, undefined])
        const before = readAll({ start })
        const afterwards = async (limit: number) => (await readAll({ start, limit })).map(([key]) => key)
        vi.setSystemTime(NOW_MS + 10_000)
        // A snapshot shows the state at the time of its creation.
        const later = Promise.all([keys({ start }), ...[1, 2, 3, 9].map(afterwards)])
        expect(['b', 'd', 'f'].map(read)).toEqual([undefined, undefined, '1'])
        expect(store.findTimed('b')).toBeUndefined()
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
        const times = () => ['a', 'b', 'c', 'x'].map((key) => store.findTimed(key)?.expiresAt)
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
        const both = await Promise.all([
          named('m', toPut('m', '1')),
          write(toPut('m', '2')),
          named('m', toPut('m', '1')),
        ])
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

    it('completes accepted writes when it is closed, and can be closed twice', async () => {
      const writing = write(toPut('a', '1'))
      await store.close()
      expect(await writing).toBeDefined()
      await store.close()
    })
  })
}
