import fc from 'fast-check'
import { temporaryFolder } from '@influencer-stats/runtime/testing/temporary'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Entry, Position } from '@influencer-stats/log/log'
import type { Condition } from '../src/core/condition.ts'
import type { Outcomes } from '../src/core/judge.ts'
import { changesExpiry, type Op } from '../src/core/lines.ts'
import { DUE_END, duePosition, readDue } from '../src/core/own-keys.ts'
import { toEtag } from '../src/core/stored.ts'
import { decodeWrites, encodeWrites, EXPIRE, WRITES, type LoggedWrite } from '../src/core/writes.ts'
import { Expiring, expiryMemory } from '../src/store/expiries.ts'
import { createLiveReader } from '../src/store/live-reader.ts'
import { openLogView, type LogView } from '../src/store/log-view.ts'
import { OWN_KEY } from '../src/store/revisions.ts'
import type { KvLevel } from '../src/store/commit.ts'
import { Feed } from '../src/watch/feed.ts'
import { openNodeLevelOf } from './support/level.ts'
import { openTestNode } from './support/replicated-store.ts'

const bytes = (min: number, max: number) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((one) => Buffer.from(one))
const tags = fc.oneof(
  fc.constant('*' as const),
  fc.array(fc.constantFrom('"a"', 'W/"b"', '"\u00ff"'), { maxLength: 3 }),
)
const condition: fc.Arbitrary<Condition | undefined> = fc.option(
  fc.oneof(fc.record({ match: tags }), fc.record({ noneMatch: tags }), fc.record({ match: tags, noneMatch: tags })),
  { nil: undefined },
)
const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ type: fc.constant('put' as const), key: bytes(1, 30), value: bytes(0, 60) }),
  fc.record({
    type: fc.constant('put' as const),
    key: bytes(1, 30),
    value: bytes(0, 60),
    ttl: fc.maxSafeNat().map((n) => n % 2 ** 48),
  }),
  fc.record({ type: fc.constant('put' as const), key: bytes(1, 30), value: bytes(0, 60), expiresAt: fc.nat() }),
  fc.record({ type: fc.constant('del' as const), key: bytes(1, 30) }),
  fc.record({ type: fc.constant('expire' as const), key: bytes(1, 30) }),
  fc.record({ type: fc.constant('expire' as const), key: bytes(1, 30), ttl: fc.nat() }),
  fc.record({ type: fc.constant('expire' as const), key: bytes(1, 30), expiresAt: fc.nat() }),
)
const write: fc.Arbitrary<LoggedWrite> = fc
  .record({
    ops: fc.array(op, { minLength: 1, maxLength: 4 }),
    condition,
    name: fc.option(fc.constantFrom('a', 'key'), { nil: undefined }),
  })
  .map(({ ops, condition: asked, name }) => ({
    ops,
    ...(asked && { condition: asked }),
    ...(name && { idempotencyKey: name }),
    ...((name || ops.some(changesExpiry)) && { isSpecial: true }),
  }))

describe('writes as an entry of the log', () => {
  it('come out as they went in', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 6 }), (writes) => {
        expect(decodeWrites(encodeWrites(writes))).toEqual(writes)
      }),
    )
  })

  it('that are cut are refused', () => {
    const entry = encodeWrites([
      { ops: [{ type: 'put', key: Buffer.from('k'), value: Buffer.from('v') }], condition: { match: ['"a"'] } },
    ])
    for (let length = 1; length < entry.length; length++)
      expect(() => decodeWrites(entry.subarray(0, length))).toThrow(RangeError)
  })
})

async function openView(folder = temporaryFolder()): Promise<{ level: KvLevel; view: LogView; folder: string }> {
  const level = await openNodeLevelOf(folder)
  onTestFinished(() => level.close())
  return { level, view: await openLogView(level, new Feed(1e6)), folder }
}

async function contents({ db }: KvLevel): Promise<[string, string][]> {
  const all: [string, string][] = []
  for await (const [key, value] of db.iterator({ gt: OWN_KEY })) all.push([key.toString('hex'), value.toString('hex')])
  return all
}

const at = (seq: number): Position => ({ epoch: 'e', seq, at: 0, check: 0, writers: [] })
const entryOf = (seq: number, ...writes: LoggedWrite[]): Entry => ({
  seq,
  at: 0,
  kind: WRITES,
  body: encodeWrites(writes),
})
const put = (key: string, value: string, asked?: Condition): LoggedWrite => ({
  ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from(value) }],
  ...(asked && { condition: asked }),
})

describe('the view of the log', () => {
  it('is the same on every node, however the log comes to it and whenever a node starts anew', async () => {
    const few = fc.constantFrom('a', 'b', 'c')
    const step = fc.tuple(
      few,
      fc.constantFrom('1', '2'),
      fc.constantFrom<Condition | undefined>(undefined, { match: '*' }, { noneMatch: '*' }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
        async (steps, cuts) => {
          const entries = steps.map(([key, value, asked], i) => entryOf(i + 1, put(key, value, asked)))
          const one = await openView()
          const outcomes: unknown[] = []
          for (const entry of entries) outcomes.push(...(await one.view.apply([entry], at(entry.seq))))
          const other = await openView()
          let { view } = other
          const others: unknown[] = []
          for (let from = 0; from < entries.length;) {
            const some = entries.slice(from, (from += cuts.next().value!))
            others.push(...(await view.apply(some, at(some.at(-1)!.seq))))
            view = await openLogView(other.level, new Feed(1e6))
            expect(view.position()).toEqual(at(some.at(-1)!.seq))
          }
          expect(others).toEqual(outcomes)
          expect(await contents(other.level)).toEqual(await contents(one.level))
          await one.level.close()
          await other.level.close()
        },
      ),
      { numRuns: 20 },
    )
  })

  it('is the same on every node where keys expire and changes are made again, and as a model has it', async () => {
    const LIMIT = 2
    const few = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    const step = fc.record({
      kind: fc.constantFrom(
        'put',
        'put',
        'timed',
        'until',
        'delete',
        'create',
        'named',
        'touch',
        'persist',
        'expire',
        'expire',
      ),
      key: few,
      time: fc.integer({ min: 1, max: 9 }),
      passes: fc.integer({ min: 0, max: 4 }),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 25 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 6 })),
        async (steps, cuts) => {
          let clock = 100
          const model = new Map<string, { value: string; until: number }>()
          const names = new Set<string>()
          const entries = steps.map(({ kind, key, time, passes }, i): Entry => {
            const at = (clock += passes)
            const value = String(i)
            const before = model.get(key)
            const isThere = before && before.until > at
            const asOp = (more: object): LoggedWrite => ({
              ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from(value), ...more }],
            })
            const entry = (one: LoggedWrite): Entry => ({ ...entryOf(i + 1, one), at })
            if (kind === 'expire') {
              const due = [...model].filter(([, one]) => one.until <= at)
              due.sort(([a, one], [b, other]) => one.until - other.until || (a < b ? -1 : 1))
              for (const [gone] of due.slice(0, LIMIT)) model.delete(gone)
              return { seq: i + 1, at, kind: EXPIRE, body: Buffer.alloc(0) }
            }
            if (kind === 'delete') {
              model.delete(key)
              return entry({ ops: [{ type: 'del', key: Buffer.from(key) }] })
            }
            if (kind === 'touch' || kind === 'persist') {
              const expiry = kind === 'touch' ? { ttl: time } : {}
              if (isThere) model.set(key, { ...before, until: kind === 'touch' ? at + time : Infinity })
              return entry({ ops: [{ type: 'expire', key: Buffer.from(key), ...expiry }] })
            }
            if (kind === 'named') {
              // The same change each time: of the times it is made the first counts.
              const name = `${key}${time}`
              if (!names.has(name)) model.set(key, { value: name, until: Infinity })
              names.add(name)
              return entry({
                ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from(name) }],
                idempotencyKey: name,
              })
            }
            const until = { put: Infinity, create: Infinity, timed: at + time, until: 100 + time }[kind]!
            if (kind !== 'create' || !isThere) model.set(key, { value, until })
            if (kind === 'create') return entry({ ...asOp({}), condition: { noneMatch: '*' } })
            return entry(asOp({ put: {}, timed: { ttl: time }, until: { expiresAt: 100 + time } }[kind]!))
          })
          const one = await openNodeLevelOf(temporaryFolder())
          const first = await openLogView(one, new Feed(1e6), undefined, LIMIT)
          const outcomes: unknown[] = []
          for (const entry of entries) {
            outcomes.push(...(await first.apply([entry], at(entry.seq))))
            const [due] = await one.db.keys({ gte: duePosition(0), lt: DUE_END, limit: 1 }).all()
            expect(first.nextDue).toBe(due ? readDue(due).time : Infinity)
          }
          const other = await openNodeLevelOf(temporaryFolder())
          const others: unknown[] = []
          for (let from = 0; from < entries.length;) {
            const some = entries.slice(from, (from += cuts.next().value!))
            const view = await openLogView(other, new Feed(1e6), undefined, LIMIT)
            others.push(...(await view.apply(some, at(some.at(-1)!.seq))))
          }
          expect(others).toEqual(outcomes)
          const kept = await contents(one)
          expect(await contents(other)).toEqual(kept)
          const users = kept.filter(([key]) => !key.startsWith('ff'))
          expect(
            users.map(([key, value]) => [
              Buffer.from(key, 'hex').toString(),
              Buffer.from(value, 'hex').toString().slice(8),
            ]),
          ).toEqual([...model].map(([key, { value }]) => [key, value]).toSorted(([a], [b]) => (a! < b! ? -1 : 1)))
          // What says when a key expires says so twice, and of nothing that is not there.
          const due = kept.flatMap(([key]) => (key.startsWith('ff65') ? [key.slice(4)] : []))
          const expiries = kept.flatMap(([key, value]) => (key.startsWith('ff74') ? [value + key.slice(4)] : []))
          expect(due).toEqual(expiries.toSorted())
          const there = new Set(kept.map(([key]) => key))
          expect(due.every((entry) => there.has(entry.slice(12)))).toBe(true)
          await one.close()
          await other.close()
        },
      ),
      { numRuns: 60 },
    )
  })

  it('looks for what is due behind what it has removed, and only then', async () => {
    const level = await openNodeLevelOf(temporaryFolder())
    onTestFinished(() => level.close())
    const LIMIT = 10
    const view = await openLogView(level, new Feed(1e6), undefined, LIMIT)
    const looks = vi.spyOn(level.db, 'keys')
    const putAll = Array.from({ length: 200 }, (_, i) => ({
      ops: [{ type: 'put' as const, key: Buffer.from(`k${i}`), value: Buffer.from('x'), expiresAt: 5 }],
      isSpecial: true,
    }))
    await view.apply([entryOf(1, ...putAll)], at(1))
    expect(looks).not.toHaveBeenCalled()
    for (let seq = 2; view.nextDue !== Infinity; seq++)
      await view.apply([{ seq, at: 10, kind: EXPIRE, body: Buffer.alloc(0) }], at(seq))
    const positions = looks.mock.calls.map(([range]) => range!.gte as Buffer)
    // Each round reads twice: the values to remove, and the next one that expires.
    expect(positions).toHaveLength((2 * 200) / LIMIT)
    for (const [i, position] of positions.entries()) {
      if (i >= 2) expect(Buffer.compare(position, positions[i - 2]!)).toBe(1)
    }
  })

  it('hides from reads what the clock of the log has passed, where that of the node is behind', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
    onTestFinished(() => void vi.useRealTimers())
    const level = await openNodeLevelOf(temporaryFolder())
    onTestFinished(() => level.close())
    const expiring = new Expiring(expiryMemory())
    const view = await openLogView(level, new Feed(1e6), expiring, 10)
    const { find } = createLiveReader(level.db, expiring)
    const timed: LoggedWrite = { ...put('k', '1'), isSpecial: true }
    const ops = timed.ops.map((op) => ({ ...op, expiresAt: 1_003_000 }))
    await view.apply([{ ...entryOf(1, { ...timed, ops }), at: 1_001_000 }], at(1))
    expect(find('k')).toBeDefined()
    const [refused] = (await view.apply([{ ...entryOf(2, put('k', '2', { match: '*' })), at: 1_003_000 }], at(2))) as [
      Outcomes,
    ]
    expect(refused).toEqual([undefined])
    expect(find('k')).toBeUndefined()
    vi.setSystemTime(1_002_000)
    expect(find('k')).toBeUndefined()
  })

  it('does not guess what it does not know', async () => {
    const { view } = await openView()
    const unknown = { code: 'LOG_FORMAT_UNKNOWN' }
    await expect(view.apply([{ seq: 1, at: 0, kind: 3, body: Buffer.alloc(0) }], at(1))).rejects.toMatchObject(unknown)
    const newer = encodeWrites([put('k', '1')])
    newer[0] = 8
    await expect(view.apply([{ seq: 1, at: 0, kind: WRITES, body: newer }], at(1))).rejects.toMatchObject(unknown)
    newer[0] = 0
    newer[5] = 7
    await expect(view.apply([{ seq: 1, at: 0, kind: WRITES, body: newer }], at(1))).rejects.toMatchObject(unknown)
    expect(view.position()).toBeUndefined()
  })

  it('judges a batch once: after a fault it is written as it was judged', async () => {
    const { level, view } = await openView()
    await view.apply([entryOf(1, put('k', '1'))], at(1))
    const entries = [entryOf(2, put('k', '2', { noneMatch: '*' }), put('new', '1', { noneMatch: '*' }))]
    // Written, and said to have failed.
    const failing = vi.spyOn(level, 'write').mockImplementationOnce(async (run) => {
      await run(level.db)
      throw new Error('who knows')
    })
    await expect(view.apply(entries, at(2))).rejects.toThrow('who knows')
    expect(view.position()).toEqual(at(1))
    failing.mockRestore()
    const [outcomes] = (await view.apply(entries, at(2))) as [Outcomes]
    expect(outcomes.map((one) => one !== undefined)).toEqual([false, true])
    const after = await openLogView(level, new Feed(1e6))
    expect(after.position()).toEqual(at(2))
  })

  it('is carried over by a snapshot, which replaces what is there', async () => {
    const one = await openView()
    const other = await openView()
    for (let i = 1; i <= 20; i++) await one.view.apply([entryOf(i, put(`k${i}`, 'x'.repeat(i * 100)))], at(i))
    await other.view.apply([entryOf(1, put('stale', '1'))], at(1))
    // In pieces of any size.
    async function* cut(pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces)
        for (let from = 0; from < piece.length; from += 777) yield piece.subarray(from, from + 777)
    }
    await other.view.restore(cut(one.view.snapshot()))
    expect(await contents(other.level)).toEqual(await contents(one.level))
    expect(other.view.position()).toEqual(at(20))
    const next = [entryOf(21, put('k1', 'again', { match: '*' }))]
    expect(await other.view.apply(next, at(21))).toEqual(await one.view.apply(next, at(21)))
  })

  it('carries over by a snapshot what expires and what is remembered; one of before there was any is read, too', async () => {
    const one = await openView()
    const other = await openView()
    const timed: LoggedWrite = {
      ops: [{ type: 'put', key: Buffer.from('timed'), value: Buffer.from('1'), ttl: 10 }],
      isSpecial: true,
    }
    const named = { ...put('named', '1'), idempotencyKey: 'n', isSpecial: true }
    await one.view.apply([entryOf(1, timed, named, put('k', '1'))], at(1))
    await other.view.restore(one.view.snapshot())
    expect(other.view.nextDue).toBe(10)
    const late = [
      { ...entryOf(2, named), at: 10 },
      { seq: 3, at: 10, kind: EXPIRE, body: Buffer.alloc(0) },
    ]
    expect(await other.view.apply(late, at(3))).toEqual(await one.view.apply(late, at(3)))
    const kept = await contents(one.level)
    expect(await contents(other.level)).toEqual(kept)
    expect(kept.map(([key]) => Buffer.from(key, 'hex').toString()).filter((key) => /^\w+$/.test(key))).toEqual([
      'k',
      'named',
    ])
    async function* old() {
      for await (const piece of one.view.snapshot())
        yield Buffer.from(piece.toString('latin1').replace('kv snapshot 2', 'kv snapshot 1'), 'latin1')
    }
    await other.view.restore(old())
    expect(await contents(other.level)).toEqual(kept)
  })

  it('is none after half a snapshot', async () => {
    const one = await openView()
    const other = await openView()
    for (let i = 1; i <= 20; i++) await one.view.apply([entryOf(i, put(`k${i}`, 'x'))], at(i))
    await other.view.apply([entryOf(1, put('stale', '1'))], at(1))
    async function* half(pieces: AsyncIterable<Buffer>) {
      let isHead = true
      for await (const piece of pieces) {
        yield isHead ? piece : piece.subarray(0, Math.ceil(piece.length / 2))
        isHead = false
      }
    }
    await expect(other.view.restore(half(one.view.snapshot()))).rejects.toThrow('is cut')
    expect(other.view.position()).toBeUndefined()
    expect((await openLogView(other.level, new Feed(1e6))).position()).toBeUndefined()
    async function* foreign() {
      yield Buffer.from('what is this, and why is it here at all?')
    }
    await expect(other.view.restore(foreign())).rejects.toThrow('no snapshot')
  })

  it('starts anew where a power cut may have torn it, and goes on after a clean end', async () => {
    const { level, view } = await openView()
    await view.apply([entryOf(1, put('k', '1'))], at(1))
    const own = JSON.parse((await level.db.get(OWN_KEY))!.toString())
    const write = (boot: string | undefined) => level.db.put(OWN_KEY, Buffer.from(JSON.stringify({ ...own, boot })))
    expect((await openLogView(level, new Feed(1e6))).position()).toEqual(at(1))
    await view.settle()
    expect(JSON.parse((await level.db.get(OWN_KEY))!.toString()).boot).toBe('clean')
    await write('another run of the machine')
    expect((await openLogView(level, new Feed(1e6))).position()).toBeUndefined()
    expect(await contents(level)).toEqual([])
  })
})

describe('a store on the log', () => {
  it('tells the place of a write, and of what is read', async () => {
    const { store, close } = await openTestNode()
    onTestFinished(close)
    const write = (key: string) =>
      store.write({ ...put(key, '1'), durable: false }, (revision, sequence) => ({ tag: toEtag(revision!), sequence }))
    const first = await write('a')
    const [second, third] = await Promise.all([write('b'), write('c')])
    expect(first.sequence).toBe(1)
    expect(second).toMatchObject({ sequence: 2 })
    // Those of one turn share a place, and have tags of their own.
    expect(third).toMatchObject({ sequence: 2 })
    expect(third.tag).not.toBe(second.tag)
    expect(store.replica!.sequence).toBe(2)
    const snapshot = store.snapshot()
    const scan = snapshot.scan({ start: Buffer.from('a') })
    await write('d')
    expect(snapshot.sequence).toBe(2)
    expect((await scan.next()).map(([key]) => key)).toEqual(['a', 'b', 'c'])
    await scan.close()
    await snapshot.close()
    await store.replica!.seen({ after: 3, linearizable: true })
    await expect(store.replica!.seen({ after: 99 })).rejects.toMatchObject({ code: 'LOG_BEHIND' })
  })
})
