import fc from 'fast-check'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { LogEntry } from '@influencer-stats/log/log'
import type { WriteCondition } from '../src/core/write-condition.ts'
import type { Outcomes } from '../src/core/evaluate-writes.ts'
import { DUE_END, toDuePosition, decodeDueKey } from '../src/core/internal-keys.ts'
import { encodeWrites, EXPIRE_KIND, type LoggedWrite } from '../src/core/encode-writes.ts'
import { TtlState, createTtlMemory } from '../src/store/ttl.ts'
import { createLiveReader } from '../src/store/live-reader.ts'
import { openKvStateMachine } from '../src/cluster/kv-state-machine.ts'
import { ChangeFeed } from '../src/watch/change-feed.ts'
import { openNodeTestLevel } from './support/level.ts'
import { at, createEntry, openTestStateMachine, put, readContents } from './support/state-machine.ts'

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
    await machine.apply([{ ...createEntry(1, { ...timed, ops }), at: 1_001_000 }], { ...at(1), at: 1_001_000 })
    expect(find('k')).toBeDefined()
    const [refused] = (await machine.apply([{ ...createEntry(2, put('k', '2', { match: '*' })), at: 1_003_000 }], {
      ...at(2),
      at: 1_003_000,
    })) as [Outcomes]
    expect(refused).toEqual([undefined])
    expect(find('k')).toBeUndefined()
    vi.setSystemTime(1_002_000)
    expect(find('k')).toBeUndefined()
    // The log passes the position without an entry after many frames that have none, such as barriers.
    expect(await machine.apply([], { ...at(3), at: 1_004_000 })).toEqual([])
    expect(machine.getPosition()!.seq).toBe(3)
  })

  it('refuses unknown kinds and formats, and states their sequence', async () => {
    const { machine: view } = await openTestStateMachine()
    const unknown = { code: 'LOG_FORMAT_UNKNOWN' }
    const valid = createEntry(1, put('k', '1'))
    const refuse = async (more: Partial<LogEntry>, error: object) =>
      expect(view.apply([valid, { ...valid, seq: 2, ...more }], at(3))).rejects.toMatchObject({ ...error, seq: 2 })
    await refuse({ kind: 3 }, unknown)
    const newer = encodeWrites([put('k', '1')])
    newer[0] = 8
    await refuse({ body: newer }, unknown)
    newer[0] = 0
    newer[5] = 7
    await refuse({ body: newer }, unknown)
    await refuse({ body: newer.subarray(0, 3) }, { code: 'LOG_DAMAGED' })
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
})
