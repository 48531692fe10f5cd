import fc from 'fast-check'
import { createKeys } from '@influencer-stats/runtime/testing/utf8-keys'
import { describe, expect, it } from 'vitest'
import type { Op } from '../src/core/change-lines.ts'
import { getEtag, toEtag, getValue } from '../src/core/stored-value.ts'
import type { KvStore } from '../src/store/store.ts'
import { toDelete, toPut, useStore } from './support/store-under-test.ts'

/** Tests that every store must pass. @param open opens a new, empty store */
export function describeStore(name: string, open: () => Promise<KvStore>): void {
  describe(`store ${name}`, () => {
    const { getStore, submit, write, condition, find, read, readTag, readAll, readRest, keys } = useStore(open)

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
          expect(getStore().find('never there')).toBeUndefined()
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
          const now = getStore().find('n')!
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
      const snapshot = getStore().snapshot()
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

    it('completes accepted writes when it is closed, and can be closed twice', async () => {
      const writing = write(toPut('a', '1'))
      await getStore().close()
      expect(await writing).toBeDefined()
      await getStore().close()
    })
  })
}
