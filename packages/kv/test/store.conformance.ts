import fc from 'fast-check'
import { keysOfBytes } from '@influencer-stats/runtime/testing/utf8-keys'
import { until } from '@influencer-stats/runtime/testing/until'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Condition } from '../src/core/condition.ts'
import type { Entry } from '../src/core/frames.ts'
import { KEY_REUSED, REMEMBERED } from '../src/core/judge.ts'
import type { Op } from '../src/core/lines.ts'
import { etagOf, toEtag, valueOf } from '../src/core/stored.ts'
import type { Range, Scan, Store, Write } from '../src/store/store.ts'

const put = (key: string, value: string): Op => ({ type: 'put', key: Buffer.from(key), value: Buffer.from(value) })
const del = (key: string): Op => ({ type: 'del', key: Buffer.from(key) })

/** What every store must do. @param open a new, empty store */
export function storeConformance(name: string, open: () => Promise<Store>): void {
  describe(`store ${name}`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    /** Resolves with the revision, if the condition held. */
    const submit = (one: Write) => store.write(one, (revision) => revision)
    const write = (...ops: Op[]) => submit({ ops, durable: false })
    const when = (condition: object, ...ops: Op[]) => submit({ ops, condition, durable: false })
    const find = (key: string) => {
      const stored = store.find(key)
      return stored === undefined ? undefined : Buffer.from(valueOf(stored))
    }
    const read = (key: string) => find(key)?.toString()
    const tagAt = (key: string) => etagOf(store.find(key)!)

    async function all(range: Range): Promise<Entry[]> {
      const snapshot = store.snapshot()
      const found = await rest(snapshot.scan(range))
      await snapshot.close()
      return found
    }
    async function rest(scan: Scan): Promise<Entry[]> {
      const found: Entry[] = []
      for (let slice = await scan.next(); slice.length > 0; slice = await scan.next()) found.push(...slice)
      await scan.close()
      return found
    }
    const keys = async (range: Range) => (await all(range)).map(([key]) => key)

    it('gives back what was written, the last winning, durable or not', async () => {
      expect(read('a')).toBeUndefined()
      await write(put('a', '1'))
      await submit({ ops: [put('a', '2')], durable: true })
      expect(read('a')).toBe('2')
      await write(put('a', ''))
      expect(read('a')).toBe('')
      await write(del('a'), del('never there'))
      expect(read('a')).toBeUndefined()
    })

    it('finds values of any kind under keys of any kind, one after the other', async () => {
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
      // Each after each: what a value was must not tell on the next.
      for (let i = 0; i < values.length; i++) {
        for (let j = 0; j < values.length; j++) {
          expect(find(keys[i]!)).toEqual(values[i])
          expect(find(keys[j]!)).toEqual(values[j])
          expect(store.find('never there')).toBeUndefined()
        }
      }
    })

    it('finds each key of 1 to 1,024 bytes, whatever was read before, and no other', async () => {
      const keys = Array.from({ length: 1_024 }, (_, i) => keysOfBytes(i + 1)).flat()
      const stored = keys.filter((_, i) => i % 2 === 0)
      await write(...stored.map((key) => put(key, key)))
      const isStored = new Set(stored)
      const check = (some: readonly string[]) =>
        expect(some.filter((key) => read(key) !== (isStored.has(key) ? key : undefined))).toEqual([])
      check(keys.map((_, i) => keys[(i * 7_919) % keys.length]!))
      check(keys)
      check(keys.toReversed())
      for (const key of stored.filter((_, i) => i % 97 === 0)) {
        const [start, end] = [Buffer.from(key), Buffer.from(`${key}\0`)]
        expect((await all({ start, end })).map(([found, value]) => [found, String(value)])).toEqual([[key, key]])
        expect(await when({ match: [tagAt(key)] }, del(key))).toBeDefined()
        expect(read(key)).toBeUndefined()
      }
    })

    it('applies the changes of one write in their order', async () => {
      await write(put('a', '1'), del('a'), put('b', '1'), put('b', '2'))
      expect([read('a'), read('b')]).toEqual([undefined, '2'])
    })

    it('writes under a condition only where it holds', async () => {
      expect(await when({ match: '*' }, put('a', 'x'))).toBeUndefined()
      const tag = toEtag((await when({ noneMatch: '*' }, put('a', '1')))!)
      expect(await when({ noneMatch: '*' }, put('a', 'x'))).toBeUndefined()
      expect(await when({ match: ['"x"'] }, del('a'))).toBeUndefined()
      expect([read('a'), tagAt('a')]).toEqual(['1', tag])
      expect(await when({ match: ['"x"', tag] }, put('a', '2'), put('b', '2'))).toBeDefined()
      expect(await when({ match: [tag] }, put('a', 'x'), put('b', 'x'))).toBeUndefined()
      expect([read('a'), read('b')]).toEqual(['2', '2'])
    })

    it('gives every write a revision of its own, which its values have', async () => {
      const given = await Promise.all([
        ...Array.from({ length: 300 }, (_, i) => write(put(`k${i % 7}`, 'same'))),
        ...Array.from({ length: 30 }, (_, i) => when({ match: '*' }, put(`k${i % 7}`, 'same'))),
        ...Array.from({ length: 30 }, (_, i) => write(put(`k${i % 7}`, 'same'), del('x'), put('both', 'same'))),
      ])
      expect(new Set(given).size).toBe(given.length)
      expect(tagAt('both')).toBe(toEtag(given.at(-1)!))
      for (const one of given) expect(one).toMatch(/^[\w-]{8}$/)
      const last = await write(put('a', '1'), put('a', 'same'), put('b', 'same'))
      expect([tagAt('a'), tagAt('b')]).toEqual([toEtag(last!), toEtag(last!)])
    })

    it('holds a condition on a value only until it is written again, be it the same bytes', async () => {
      for (const between of [[], [put('a', 'B')], [del('a')], [put('a', 'B'), del('a')]]) {
        await write(put('a', 'A'))
        const tag = tagAt('a')
        for (const op of between) await write(op)
        await write(put('a', 'A'))
        expect(await when({ match: [tag] }, put('a', 'C'))).toBeUndefined()
        expect(await when({ noneMatch: [tag] }, put('a', 'A'))).toBeDefined()
        // In one turn, too: each is judged by what the one before it left.
        const now = tagAt('a')
        const both = await Promise.all([write(put('a', 'A')), when({ match: [now] }, put('a', 'C'))])
        expect(both.map((one) => one !== undefined)).toEqual([true, false])
      }
    })

    it('shows nothing but what was written, from the first key on', async () => {
      const first = '\0'
      const last = '\u{10ffff}'.repeat(256)
      await write(put(first, 'first'), put(last, 'last'))
      expect((await all({ start: Buffer.from(first) })).map(([key, value]) => [key, String(value)])).toEqual([
        [first, 'first'],
        [last, 'last'],
      ])
    })

    it('lets one of many win who make the same key at once, before and after plain writes', async () => {
      const make = (value: string) => when({ noneMatch: '*' }, put('k', value))
      const won = await Promise.all(Array.from({ length: 20 }, (_, i) => make(String(i))))
      expect(won.filter(Boolean)).toHaveLength(1)
      expect(read('k')).toBe(String(won.findIndex(Boolean)))
      const [, late] = await Promise.all([write(put('m', 'plain')), make('x')])
      expect([late, read('m')]).toEqual([undefined, 'plain'])
    })

    it('counts right where many compare and swap', async () => {
      await write(put('n', '0'))
      async function add(): Promise<void> {
        for (;;) {
          const now = store.find('n')!
          if (await when({ match: [etagOf(now)] }, put('n', String(Number(valueOf(now)) + 1)))) return
        }
      }
      await Promise.all(Array.from({ length: 25 }, add))
      expect(read('n')).toBe('25')
    })

    it('scans the base as it was when the scan began', async () => {
      await Promise.all(
        Array.from({ length: 5_000 }, (_, i) => write(put(`k${String(i).padStart(5, '0')}`, 'old'.repeat(100)))),
      )
      await write(put('last', 'old'))
      const snapshot = store.snapshot()
      const scan = snapshot.scan({ start: Buffer.from('k') })
      const first = await scan.next()
      await write(put('k04999', 'new'), put('k04999a', 'new'), del('last'))
      const found = [...first, ...(await rest(scan))]
      await scan.close()
      const inSnapshot = (key: string) => valueOf(snapshot.find(Buffer.from(key))!.stored).toString()
      expect([inSnapshot('k04999'), inSnapshot('last')]).toEqual(['old'.repeat(100), 'old'])
      expect(snapshot.find(Buffer.from('k04999a'))).toBeUndefined()
      expect((await rest(snapshot.scan({ start: Buffer.from('k04998') }))).map(([key]) => key)).toEqual([
        'k04998',
        'k04999',
        'last',
      ])
      await snapshot.close()
      expect(found).toHaveLength(5_001)
      expect(found.at(-2)![1].toString()).toBe('old'.repeat(100))
      expect(found.at(-1)!.map(String)).toEqual(['last', 'old'])
    })

    it('scans values that are no text as they are, wherever they come', async () => {
      const value = (i: number) => (i === 4_000 ? Buffer.from([0xff, 0xfd]) : Buffer.from('\ufeff\u00e9'.repeat(50)))
      const id = (i: number) => `k${String(i).padStart(5, '0')}`
      const ops = Array.from({ length: 5_000 }, (_, i): Op => ({
        type: 'put',
        key: Buffer.from(id(i)),
        value: value(i),
      }))
      await write(...ops)
      for (const limit of [undefined, 4_000, 4_002]) {
        const found = await all({ start: Buffer.from('k'), limit })
        expect(found.map(([key]) => key)).toEqual(ops.slice(0, limit).map((_, i) => id(i)))
        expect(found.every(([, kept], i) => value(i).equals(Buffer.from(kept)))).toBe(true)
        const reversed = await all({ start: Buffer.from('k'), limit, reverse: true })
        const last = ops.slice(-(limit ?? ops.length)).toReversed()
        expect(reversed.map(([key]) => key)).toEqual(last.map(({ key: one }) => one.toString()))
        expect(reversed.every(([, kept], i) => (last[i] as { value: Buffer }).value.equals(Buffer.from(kept)))).toBe(
          true,
        )
      }
    })

    it('agrees with a sorted list of bytes, whatever is written and asked', async () => {
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
          async (writes, asked) => {
            const old = await all({ start: Buffer.from([0]) })
            if (old.length > 0) await write(...old.map(([known]): Op => del(known)))
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
                (one) => Buffer.compare(one, asked.start) >= 0 && (!asked.end || Buffer.compare(one, asked.end) < 0),
              )
              .slice(0, asked.limit)
            const found = await all(asked)
            expect(found.map(([found]) => found)).toEqual(expected.map(String))
            for (const [one, kept] of found) {
              expect(Buffer.from(kept)).toEqual(model.get(Buffer.from(one).toString('latin1')))
            }
          },
        ),
        { numRuns: 60 },
      )
    })

    it('ends before the end, and gives nothing where the end comes first', async () => {
      await write(put('a', '1'), put('b', '2'), put('c', '3'))
      const at = (text: string) => Buffer.from(text)
      expect(await keys({ start: at('a'), end: at('c') })).toEqual(['a', 'b'])
      expect(await keys({ start: at('aa') })).toEqual(['b', 'c'])
      expect(await keys({ start: at('c'), end: at('a') })).toEqual([])
    })

    describe('with a clock', () => {
      const NOW = 1_800_000_000_000
      beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }))
      afterEach(() => void vi.useRealTimers())

      const expiring = (key: string, value: string, more: { ttl: number } | { expiresAt: number }) =>
        submit({ ops: [{ ...put(key, value), ...more } as Op], isSpecial: true, durable: false })
      const named = (idempotencyKey: string, ...ops: Op[]) =>
        submit({ ops, idempotencyKey, isSpecial: true, durable: false })

      it('takes away what has expired, by itself, and nothing before', async () => {
        await write(put('stays', '1'))
        await expiring('a', '1', { ttl: 10_000 })
        await expiring('b', '1', { expiresAt: NOW + 20_000 })
        await expiring('past', '1', { expiresAt: 1 })
        await expiring('again', '1', { ttl: 10_000 })
        await expiring('again', '2', { ttl: 30_000 })
        await expiring('plain', '1', { ttl: 10_000 })
        await write(put('plain', '2'))
        await expiring('deleted', '1', { ttl: 10_000 })
        await write(del('deleted'))
        await expiring('swapped', '1', { ttl: 10_000 })
        await when({ match: [tagAt('swapped')] }, put('swapped', '2'))
        await submit({
          ops: [{ ...put('both', '1'), ttl: 10_000 } as Op, put('both', '2')],
          isSpecial: true,
          durable: false,
        })
        await until(() => read('past') === undefined)
        expect(await keys({ start: Buffer.from('a') })).toEqual([
          'a',
          'again',
          'b',
          'both',
          'plain',
          'stays',
          'swapped',
        ])
        vi.setSystemTime(NOW + 10_000)
        await until(() => read('a') === undefined)
        expect(await keys({ start: Buffer.from('a') })).toEqual(['again', 'b', 'both', 'plain', 'stays', 'swapped'])
        vi.setSystemTime(NOW + 40_000)
        await until(() => read('again') === undefined && read('b') === undefined)
        expect(await keys({ start: Buffer.from('a') })).toEqual(['both', 'plain', 'stays', 'swapped'])
      })

      it('sees what has expired as absent in conditions, be it still there', async () => {
        await expiring('k', '1', { ttl: 10_000 })
        const tag = tagAt('k')
        expect(await when({ noneMatch: '*' }, put('k', '2'))).toBeUndefined()
        vi.setSystemTime(NOW + 10_000)
        expect(await when({ match: [tag] }, put('k', '3'))).toBeUndefined()
        expect(await when({ noneMatch: '*' }, put('k', '4'))).toBeDefined()
        // It is another one now, and stays.
        vi.setSystemTime(NOW + 100_000)
        await expiring('other', '1', { expiresAt: NOW })
        await until(() => read('other') === undefined)
        expect(read('k')).toBe('4')
      })

      it('shows a value until its time and not from then on, to the millisecond, before it is removed', async () => {
        await write(put('a', '1'), put('c', '1'), put('e', '\xff'))
        await expiring('b', 'x\xff', { ttl: 10_000 })
        await expiring('d', '1', { expiresAt: NOW + 10_000 })
        await expiring('f', '1', { expiresAt: NOW + 10_001 })
        const start = Buffer.from('a')
        vi.setSystemTime(NOW + 9_999)
        expect(['b', 'd', 'f'].map(read)).toEqual(['x\xff', '1', '1'])
        expect(await keys({ start })).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
        expect([store.findTimed('b')!.expiresAt, store.findTimed('a')!.expiresAt]).toEqual([NOW + 10_000, undefined])
        const before = all({ start })
        const afterwards = async (limit: number) => (await all({ start, limit })).map(([key]) => key)
        vi.setSystemTime(NOW + 10_000)
        // A snapshot shows the state at the time of its creation.
        const later = Promise.all([keys({ start }), ...[1, 2, 3, 9].map(afterwards)])
        expect(['b', 'd', 'f'].map(read)).toEqual([undefined, undefined, '1'])
        expect(store.findTimed('b')).toBeUndefined()
        expect((await before).map(([key]) => key)).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
        const left = ['a', 'c', 'e', 'f']
        expect(await later).toEqual([left, ...[1, 2, 3, 9].map((limit) => left.slice(0, limit))])
        // The clock moves back: an absent value stays absent.
        vi.setSystemTime(NOW + 5_000)
        expect(read('b')).toBeUndefined()
      })

      it('skips many entries that have expired, also where a limit is small', async () => {
        const ops = Array.from({ length: 12_000 }, (_, i) => ({ ...put(`k${i}`, 'x'), ttl: 1_000 }) as Op)
        await submit({ ops: [...ops, put('l', '1'), put('m', '1')], isSpecial: true, durable: false })
        const start = Buffer.from('k')
        vi.setSystemTime(NOW + 1_000)
        const found = await Promise.all([keys({ start, limit: 1 }), keys({ start })])
        expect(found).toEqual([['l'], ['l', 'm']])
      })

      it('changes when a value expires, and not the value', async () => {
        const expire = (key: string, more: { ttl?: number; expiresAt?: number }, condition?: Condition) =>
          submit({
            ops: [{ type: 'expire', key: Buffer.from(key), ...more }],
            condition,
            isSpecial: true,
            durable: false,
          })
        await write(put('a', '1'), put('b', '1'))
        await expiring('c', '1', { ttl: 10_000 })
        const tags = ['a', 'b', 'c'].map(tagAt)
        const times = () => ['a', 'b', 'c', 'x'].map((key) => store.findTimed(key)?.expiresAt)
        expect(await expire('a', { ttl: 5_000 })).toBeDefined()
        expect(await expire('b', { expiresAt: NOW + 7_000 }, { match: [tags[1]!] })).toBeDefined()
        expect(await expire('b', { ttl: 1 }, { match: [tags[2]!] })).toBeUndefined()
        expect(await expire('c', {})).toBeDefined()
        expect(await expire('x', { ttl: 1_000 })).toBeDefined()
        expect(await expire('x', { ttl: 1_000 }, { match: '*' })).toBeUndefined()
        expect(times()).toEqual([NOW + 5_000, NOW + 7_000, undefined, undefined])
        expect(['a', 'b', 'c'].map(tagAt)).toEqual(tags)
        vi.setSystemTime(NOW + 6_000)
        expect(await expire('a', { ttl: 5_000 }, { match: '*' })).toBeUndefined()
        expect(await expire('a', { ttl: 5_000 })).toBeDefined()
        expect(['a', 'b', 'c'].map(read)).toEqual([undefined, '1', '1'])
        vi.setSystemTime(NOW + 100_000)
        expect(await keys({ start: Buffer.from('a') })).toEqual(['c'])
      })

      it('tells in a range when entries expire', async () => {
        await write(put('a', '1'), put('c', '1'))
        await expiring('b', '1', { ttl: 10_000 })
        await expiring('d', 'x\xff', { expiresAt: NOW + 50_000 })
        const found = await all({ start: Buffer.from('a') })
        expect(found.map(([key, , expiresAt]) => [key, expiresAt])).toEqual([
          ['a', undefined],
          ['b', NOW + 10_000],
          ['c', undefined],
          ['d', NOW + 50_000],
        ])
      })

      it('takes away many, others having their turn', async () => {
        const count = 3_000
        const ops = Array.from({ length: count }, (_, i) => ({ ...put(`k${i}`, 'x'), ttl: 1_000 }) as Op)
        await submit({ ops, isSpecial: true, durable: false })
        await write(put('k', 'stays'))
        vi.setSystemTime(NOW + 1_000)
        await until(async () => (await keys({ start: Buffer.from('k') })).length === 1)
        expect(read('k')).toBe('stays')
      })

      it('makes a change with an idempotency key once, and gives what the first gave', async () => {
        const first = await named('n', put('k', '1'))
        await write(put('k', '2'))
        expect(await named('n', put('k', '1'))).toBe(first)
        expect(read('k')).toBe('2')
        expect(await named('n', put('k', 'other'))).toBe(KEY_REUSED)
        expect(await named('n', del('k'))).toBe(KEY_REUSED)
        expect(read('k')).toBe('2')
        // In one turn as well.
        const both = await Promise.all([named('m', put('m', '1')), write(put('m', '2')), named('m', put('m', '1'))])
        expect(both[2]).toBe(both[0])
        expect(read('m')).toBe('2')
        // What was refused is refused: another copy of it may come late.
        const refused = {
          ops: [put('once', '1')],
          condition: { match: '*' as const },
          idempotencyKey: 'o',
          isSpecial: true,
        }
        expect(await submit({ ...refused, durable: false })).toBeUndefined()
        await write(put('once', '0'))
        expect(await submit({ ...refused, durable: false })).toBeUndefined()
        expect(read('once')).toBe('0')
        expect(await submit({ ...refused, idempotencyKey: 'p', durable: false })).toBeDefined()
        // No entry of users'.
        expect(await keys({ start: Buffer.from('\0') })).toEqual(['k', 'm', 'once'])
        vi.setSystemTime(NOW + REMEMBERED)
        expect(await named('n', put('k', 'other'))).not.toBe(KEY_REUSED)
        expect(read('k')).toBe('other')
      })
    })

    it('finishes what it took when it is closed, and can be closed twice', async () => {
      const writing = write(put('a', '1'))
      await store.close()
      expect(await writing).toBeDefined()
      await store.close()
    })
  })
}
