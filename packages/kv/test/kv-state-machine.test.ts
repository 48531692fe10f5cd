import fc from 'fast-check'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import type { WriteCondition } from '../src/core/write-condition.ts'
import type { Outcomes } from '../src/core/evaluate-writes.ts'
import { changesExpiry, type Op } from '../src/core/change-lines.ts'
import { DUE_END, toDuePosition, decodeDueKey } from '../src/core/internal-keys.ts'
import { toEtag } from '../src/core/stored-value.ts'
import { decodeWrites, encodeWrites, EXPIRE_KIND, WRITES_KIND, type LoggedWrite } from '../src/core/encode-writes.ts'
import { TtlState, createTtlMemory } from '../src/store/ttl.ts'
import { createLiveReader } from '../src/store/live-reader.ts'
import { openKvStateMachine, type KvStateMachine } from '../src/cluster/kv-state-machine.ts'
import { STATE_KEY } from '../src/revisions.ts'
import type { KvLevel } from '../src/store/commit.ts'
import { ChangeFeed } from '../src/watch/change-feed.ts'
import { openNodeTestLevel } from './support/level.ts'
import { openTestNode } from './support/replicated-store.ts'

const bytes = (min: number, max: number) =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((one) => Buffer.from(one))
const tags = fc.oneof(
  fc.constant('*' as const),
  fc.array(fc.constantFrom('"a"', 'W/"b"', '"\u00ff"'), { maxLength: 3 }),
)
const condition: fc.Arbitrary<WriteCondition | undefined> = fc.option(
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
  .map(({ ops, condition, name }) => ({
    ops,
    ...(condition && { condition: condition }),
    ...(name && { idempotencyKey: name }),
    ...((name || ops.some(changesExpiry)) && { isSpecial: true }),
  }))

describe('writes as an entry of the log', () => {
  it('are decoded to the same writes', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 6 }), (writes) => {
        expect(decodeWrites(encodeWrites(writes))).toEqual(writes)
      }),
    )
  })

  it('are refused if they are truncated', () => {
    const entry = encodeWrites([
      { ops: [{ type: 'put', key: Buffer.from('k'), value: Buffer.from('v') }], condition: { match: ['"a"'] } },
    ])
    for (let length = 1; length < entry.length; length++)
      expect(() => decodeWrites(entry.subarray(0, length))).toThrow(RangeError)
  })
})

async function openTestStateMachine(
  folder = createTemporaryFolder(),
): Promise<{ level: KvLevel; machine: KvStateMachine; folder: string }> {
  const level = await openNodeTestLevel(folder)
  onTestFinished(() => level.close())
  return { level, machine: await openKvStateMachine(level, new ChangeFeed(1e6)), folder }
}

async function readContents({ db }: KvLevel): Promise<[string, string][]> {
  const all: [string, string][] = []
  for await (const [key, value] of db.iterator({ gt: STATE_KEY }))
    all.push([key.toString('hex'), value.toString('hex')])
  return all
}

const at = (seq: number): LogPosition => ({ epoch: 'e', seq, at: 0, check: 0, writers: [] })
const createEntry = (seq: number, ...writes: LoggedWrite[]): LogEntry => ({
  seq,
  at: 0,
  kind: WRITES_KIND,
  body: encodeWrites(writes),
})
const put = (key: string, value: string, condition?: WriteCondition): LoggedWrite => ({
  ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from(value) }],
  ...(condition && { condition: condition }),
})

describe('the state machine', () => {
  it('has the same state on every node, for any split of the log and any restart', async () => {
    const smallBatch = fc.constantFrom('a', 'b', 'c')
    const step = fc.tuple(
      smallBatch,
      fc.constantFrom('1', '2'),
      fc.constantFrom<WriteCondition | undefined>(undefined, { match: '*' }, { noneMatch: '*' }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
        async (steps, cuts) => {
          const entries = steps.map(([key, value, condition], i) => createEntry(i + 1, put(key, value, condition)))
          const one = await openTestStateMachine()
          const outcomes: unknown[] = []
          for (const entry of entries) outcomes.push(...(await one.machine.apply([entry], at(entry.seq))))
          const other = await openTestStateMachine()
          let { machine: view } = other
          const others: unknown[] = []
          for (let from = 0; from < entries.length;) {
            const some = entries.slice(from, (from += cuts.next().value!))
            others.push(...(await view.apply(some, at(some.at(-1)!.seq))))
            view = await openKvStateMachine(other.level, new ChangeFeed(1e6))
            expect(view.getPosition()).toEqual(at(some.at(-1)!.seq))
          }
          expect(others).toEqual(outcomes)
          expect(await readContents(other.level)).toEqual(await readContents(one.level))
          await one.level.close()
          await other.level.close()
        },
      ),
      { numRuns: 20 },
    )
  })

  it('has the same state on every node with expiries and repeated changes, as in a model', async () => {
    const MAX_EXPIRED = 2
    const smallBatch = fc.constantFrom('a', 'b', 'c', 'd', 'e')
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
      key: smallBatch,
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
          const entries = steps.map(({ kind, key, time, passes }, i): LogEntry => {
            const at = (clock += passes)
            const value = String(i)
            const before = model.get(key)
            const isThere = before && before.until > at
            const asOp = (more: object): LoggedWrite => ({
              ops: [{ type: 'put', key: Buffer.from(key), value: Buffer.from(value), ...more }],
            })
            const entry = (one: LoggedWrite): LogEntry => ({ ...createEntry(i + 1, one), at })
            if (kind === 'expire') {
              const due = [...model].filter(([, one]) => one.until <= at)
              due.sort(([a, one], [b, other]) => one.until - other.until || (a < b ? -1 : 1))
              for (const [removed] of due.slice(0, MAX_EXPIRED)) model.delete(removed)
              return { seq: i + 1, at, kind: EXPIRE_KIND, body: Buffer.alloc(0) }
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
              // A repeated change: only the first one counts.
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
          const one = await openNodeTestLevel(createTemporaryFolder())
          const first = await openKvStateMachine(one, new ChangeFeed(1e6), undefined, MAX_EXPIRED)
          const outcomes: unknown[] = []
          for (const entry of entries) {
            outcomes.push(...(await first.apply([entry], at(entry.seq))))
            const [due] = await one.db.keys({ gte: toDuePosition(0), lt: DUE_END, limit: 1 }).all()
            expect(first.nextDue).toBe(due ? decodeDueKey(due).time : Infinity)
          }
          const other = await openNodeTestLevel(createTemporaryFolder())
          const others: unknown[] = []
          for (let from = 0; from < entries.length;) {
            const some = entries.slice(from, (from += cuts.next().value!))
            const machine = await openKvStateMachine(other, new ChangeFeed(1e6), undefined, MAX_EXPIRED)
            others.push(...(await machine.apply(some, at(some.at(-1)!.seq))))
          }
          expect(others).toEqual(outcomes)
          const rest = await readContents(one)
          expect(await readContents(other)).toEqual(rest)
          const users = rest.filter(([key]) => !key.startsWith('ff'))
          expect(
            users.map(([key, value]) => [
              Buffer.from(key, 'hex').toString(),
              Buffer.from(value, 'hex').toString().slice(8),
            ]),
          ).toEqual([...model].map(([key, { value }]) => [key, value]).toSorted(([a], [b]) => (a! < b! ? -1 : 1)))
          // Both indexes of expiries have the same entries, and only for existing keys.
          const due = rest.flatMap(([key]) => (key.startsWith('ff65') ? [key.slice(4)] : []))
          const expiries = rest.flatMap(([key, value]) => (key.startsWith('ff74') ? [value + key.slice(4)] : []))
          expect(due).toEqual(expiries.toSorted())
          const there = new Set(rest.map(([key]) => key))
          expect(due.every((entry) => there.has(entry.slice(12)))).toBe(true)
          await one.close()
          await other.close()
        },
      ),
      { numRuns: 60 },
    )
  })

  it('searches for due values after the removed ones, and only when values are due', async () => {
    const level = await openNodeTestLevel(createTemporaryFolder())
    onTestFinished(() => level.close())
    const MAX_EXPIRED = 10
    const machine = await openKvStateMachine(level, new ChangeFeed(1e6), undefined, MAX_EXPIRED)
    const lookups = vi.spyOn(level.db, 'keys')
    const putAll = Array.from({ length: 200 }, (_, i) => ({
      ops: [{ type: 'put' as const, key: Buffer.from(`k${i}`), value: Buffer.from('x'), expiresAt: 5 }],
      isSpecial: true,
    }))
    await machine.apply([createEntry(1, ...putAll)], at(1))
    expect(lookups).not.toHaveBeenCalled()
    for (let seq = 2; machine.nextDue !== Infinity; seq++)
      await machine.apply([{ seq, at: 10, kind: EXPIRE_KIND, body: Buffer.alloc(0) }], at(seq))
    const positions = lookups.mock.calls.map(([range]) => range!.gte as Buffer)
    // Each round reads twice: the values to remove, and the next one that expires.
    expect(positions).toHaveLength((2 * 200) / MAX_EXPIRED)
    for (const [i, position] of positions.entries()) {
      if (i >= 2) expect(Buffer.compare(position, positions[i - 2]!)).toBe(1)
    }
  })

  it('hides values that have expired by the clock of the log if the clock of the node is behind', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 })
    onTestFinished(() => void vi.useRealTimers())
    const level = await openNodeTestLevel(createTemporaryFolder())
    onTestFinished(() => level.close())
    const expiring = new TtlState(createTtlMemory())
    const machine = await openKvStateMachine(level, new ChangeFeed(1e6), expiring, 10)
    const { find } = createLiveReader(level.db, expiring)
    const timed: LoggedWrite = { ...put('k', '1'), isSpecial: true }
    const ops = timed.ops.map((op) => ({ ...op, expiresAt: 1_003_000 }))
    await machine.apply([{ ...createEntry(1, { ...timed, ops }), at: 1_001_000 }], at(1))
    expect(find('k')).toBeDefined()
    const [refused] = (await machine.apply(
      [{ ...createEntry(2, put('k', '2', { match: '*' })), at: 1_003_000 }],
      at(2),
    )) as [Outcomes]
    expect(refused).toEqual([undefined])
    expect(find('k')).toBeUndefined()
    vi.setSystemTime(1_002_000)
    expect(find('k')).toBeUndefined()
  })

  it('refuses unknown kinds and formats', async () => {
    const { machine: view } = await openTestStateMachine()
    const unknown = { code: 'LOG_FORMAT_UNKNOWN' }
    await expect(view.apply([{ seq: 1, at: 0, kind: 3, body: Buffer.alloc(0) }], at(1))).rejects.toMatchObject(unknown)
    const newer = encodeWrites([put('k', '1')])
    newer[0] = 8
    await expect(view.apply([{ seq: 1, at: 0, kind: WRITES_KIND, body: newer }], at(1))).rejects.toMatchObject(unknown)
    newer[0] = 0
    newer[5] = 7
    await expect(view.apply([{ seq: 1, at: 0, kind: WRITES_KIND, body: newer }], at(1))).rejects.toMatchObject(unknown)
    expect(view.getPosition()).toBeUndefined()
  })

  it('evaluates a batch once, and reuses the result after a fault', async () => {
    const { level, machine: view } = await openTestStateMachine()
    await view.apply([createEntry(1, put('k', '1'))], at(1))
    const entries = [createEntry(2, put('k', '2', { noneMatch: '*' }), put('new', '1', { noneMatch: '*' }))]
    // The write succeeds, but reports a failure.
    const failing = vi.spyOn(level, 'write').mockImplementationOnce(async (run) => {
      await run(level.db)
      throw new Error('who knows')
    })
    await expect(view.apply(entries, at(2))).rejects.toThrow('who knows')
    expect(view.getPosition()).toEqual(at(1))
    failing.mockRestore()
    const [outcomes] = (await view.apply(entries, at(2))) as [Outcomes]
    expect(outcomes.map((one) => one !== undefined)).toEqual([false, true])
    const after = await openKvStateMachine(level, new ChangeFeed(1e6))
    expect(after.getPosition()).toEqual(at(2))
  })

  it('is restored from a snapshot, which replaces all data', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    for (let i = 1; i <= 20; i++) await one.machine.apply([createEntry(i, put(`k${i}`, 'x'.repeat(i * 100)))], at(i))
    await other.machine.apply([createEntry(1, put('stale', '1'))], at(1))
    // Pieces of 777 bytes at most.
    async function* cut(pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces)
        for (let from = 0; from < piece.length; from += 777) yield piece.subarray(from, from + 777)
    }
    await other.machine.restore(cut(one.machine.snapshot()))
    expect(await readContents(other.level)).toEqual(await readContents(one.level))
    expect(other.machine.getPosition()).toEqual(at(20))
    const next = [createEntry(21, put('k1', 'again', { match: '*' }))]
    expect(await other.machine.apply(next, at(21))).toEqual(await one.machine.apply(next, at(21)))
  })

  it('restores expiries and idempotency keys from a snapshot, and reads one of the older format', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    const timed: LoggedWrite = {
      ops: [{ type: 'put', key: Buffer.from('timed'), value: Buffer.from('1'), ttl: 10 }],
      isSpecial: true,
    }
    const named = { ...put('named', '1'), idempotencyKey: 'n', isSpecial: true }
    await one.machine.apply([createEntry(1, timed, named, put('k', '1'))], at(1))
    await other.machine.restore(one.machine.snapshot())
    expect(other.machine.nextDue).toBe(10)
    const late = [
      { ...createEntry(2, named), at: 10 },
      { seq: 3, at: 10, kind: EXPIRE_KIND, body: Buffer.alloc(0) },
    ]
    expect(await other.machine.apply(late, at(3))).toEqual(await one.machine.apply(late, at(3)))
    const rest = await readContents(one.level)
    expect(await readContents(other.level)).toEqual(rest)
    expect(rest.map(([key]) => Buffer.from(key, 'hex').toString()).filter((key) => /^\w+$/.test(key))).toEqual([
      'k',
      'named',
    ])
    async function* toFirstFormat() {
      for await (const piece of one.machine.snapshot())
        yield Buffer.from(piece.toString('latin1').replace('kv snapshot 2', 'kv snapshot 1'), 'latin1')
    }
    await other.machine.restore(toFirstFormat())
    expect(await readContents(other.level)).toEqual(rest)
  })

  it('is empty after a partial snapshot', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    for (let i = 1; i <= 20; i++) await one.machine.apply([createEntry(i, put(`k${i}`, 'x'))], at(i))
    await other.machine.apply([createEntry(1, put('stale', '1'))], at(1))
    async function* truncate(pieces: AsyncIterable<Buffer>) {
      let isHead = true
      for await (const piece of pieces) {
        yield isHead ? piece : piece.subarray(0, Math.ceil(piece.length / 2))
        isHead = false
      }
    }
    await expect(other.machine.restore(truncate(one.machine.snapshot()))).rejects.toThrow('is truncated')
    expect(other.machine.getPosition()).toBeUndefined()
    expect((await openKvStateMachine(other.level, new ChangeFeed(1e6))).getPosition()).toBeUndefined()
    async function* yieldForeign() {
      yield Buffer.from('what is this, and why is it here at all?')
    }
    await expect(other.machine.restore(yieldForeign())).rejects.toThrow('does not know the format of the snapshot')
  })

  it('starts empty after a possible power cut, and continues after a clean exit', async () => {
    const { level, machine: view } = await openTestStateMachine()
    await view.apply([createEntry(1, put('k', '1'))], at(1))
    const own = JSON.parse((await level.db.get(STATE_KEY))!.toString())
    const write = (boot: string | undefined) => level.db.put(STATE_KEY, Buffer.from(JSON.stringify({ ...own, boot })))
    expect((await openKvStateMachine(level, new ChangeFeed(1e6))).getPosition()).toEqual(at(1))
    await view.settle()
    expect(JSON.parse((await level.db.get(STATE_KEY))!.toString()).boot).toBe('clean')
    await write('another run of the machine')
    expect((await openKvStateMachine(level, new ChangeFeed(1e6))).getPosition()).toBeUndefined()
    expect(await readContents(level)).toEqual([])
  })
})

describe('a store on the log', () => {
  it('returns the sequence of a write, and that of a read', async () => {
    const { store, close } = await openTestNode()
    onTestFinished(close)
    const write = (key: string) =>
      store.write({ ...put(key, '1'), durable: false }, (revision, sequence) => ({ tag: toEtag(revision!), sequence }))
    const first = await write('a')
    const [second, third] = await Promise.all([write('b'), write('c')])
    expect(first.sequence).toBe(1)
    expect(second).toMatchObject({ sequence: 2 })
    // Writes of one turn share a sequence, but each has its own tag.
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
    await store.replica!.waitForConsistency({ after: 3, linearizable: true })
    await expect(store.replica!.waitForConsistency({ after: 99 })).rejects.toMatchObject({
      code: 'SEQUENCE_WAIT_TIMEOUT',
    })
  })
})
