import { FrameError } from '@influencer-stats/log/errors'
import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CHANGE_KIND, encodeChange, type StatsChange } from '../src/state/stats-change.ts'
import { SOURCES_KEY } from '../src/state/level-keys.ts'
import { POSITION_KEY } from '../src/state/level-snapshot.ts'
import { toHistoryId, ConflictError, type SnapshotRow } from '../src/state/stats-state.ts'
import { testState } from './state.conformance.ts'
import { useNats, createStreamName, openNodeState, openTestStateMachine } from './support/cluster-node.ts'
import { createNumbers } from './support/video-numbers.ts'

const nats = useNats()

testState('of a node', async () => {
  const { state, held } = await openNodeState(nats().url, createStreamName())
  await held()
  return state
})

const row = (id: string, at: number, revision?: number): SnapshotRow => ({
  id,
  ...(revision !== undefined && { revision }),
  snapshot: { videos: [createNumbers('-4lB5EKS5Uk', at)], missing: [], asOf: at },
  point: { at, impressions: at, engagements: 1, score: 1, videos: 1 },
})
const collection = (id: string, revision: number) => ({ id, videos: ['-4lB5EKS5Uk'], revision })

describe('nodes that share a log', () => {
  async function openTwoNodes(ttl = 5_000) {
    const stream = createStreamName()
    const one = await openNodeState(nats().url, stream, ttl)
    onTestFinished(() => one.state.close())
    await one.held()
    const other = await openNodeState(nats().url, stream, ttl)
    onTestFinished(() => other.state.close())
    return { one, other, stream }
  }

  it('change a collection only if it has the replaced revision, in one order', async () => {
    const { one, other } = await openTwoNodes()
    await one.state.put(collection('c', 1))
    await other.state.catchUp!()
    const before = (await other.state.get('c'))!
    expect(before).toEqual(collection('c', 1))
    const results = await Promise.allSettled([
      one.state.put(collection('c', 2), before),
      other.state.put(collection('c', 3), before),
    ])
    const conflict = results.filter((result) => result.status === 'rejected')
    expect(conflict.map(({ reason }) => reason instanceof ConflictError)).toEqual([true])
    await Promise.all([one.state.catchUp!(), other.state.catchUp!()])
    expect(await one.state.get('c')).toEqual(await other.state.get('c'))
    await expect(one.state.delete('c', before)).rejects.toThrow(ConflictError)
    await expect(one.state.put(collection('c', 4))).rejects.toThrow(ConflictError)
  })

  it('store no numbers of a collection that has changed or was deleted meanwhile', async () => {
    const { one, other } = await openTwoNodes()
    await one.state.put(collection('c', 1))
    await one.state.putSnapshots([row('c', 5, 1)])
    await other.state.catchUp!()
    await other.state.put(collection('c', 2), collection('c', 1))
    await one.state.putSnapshots([row('c', 6, 1)])
    expect(await one.state.getHistory('c', 0, 10, 10)).toHaveLength(1)
    await one.state.putSnapshots([row('c', 7, 2)])
    expect(await one.state.getSnapshot('c')).toMatchObject({ asOf: 7 })
    await one.state.catchUp!()
    await other.state.delete('c', (await other.state.get('c'))!)
    await one.state.putSnapshots([row('c', 8, 2)])
    expect(await one.state.getSnapshot('c')).toBeUndefined()
    expect(await one.state.getHistory('c', 0, 10, 10)).toEqual([])
  })

  it('store no numbers of a replaced source, and delete those of all sources with their collection', async () => {
    const { one, other } = await openTwoNodes(3_600_000)
    await one.state.put(collection('c', 1))
    await one.state.putSnapshots([row('c', 5, 1)])
    await one.state.putVideos([{ id: '-4lB5EKS5Uk', details: { id: '-4lB5EKS5Uk', asOf: 5 } }])
    const replace = (source: string, before: string) =>
      other.log.append<boolean>(CHANGE_KIND, encodeChange({ type: 'source', source, before }))
    expect((await replace('https://b.example', 'https://a.example')).outcome).toBe(false)
    expect((await replace('https://b.example', 'stand-in')).outcome).toBe(true)
    // This node still has the lease, and has not applied the change yet.
    await one.state.putSnapshots([row('c', 6, 1)])
    await one.state.putVideos([{ id: '-4lB5EKS5Uk', details: { id: '-4lB5EKS5Uk', asOf: 6 } }])
    await one.state.deletePoints('c', [5])
    for (const { state } of [one, other]) {
      await state.catchUp!()
      expect(state.getSource!()).toBe('https://b.example')
      expect([await state.getSnapshot('c'), await state.getHistory('c', 0, 10, 10)]).toEqual([undefined, []])
      expect(await state.getVideos(['-4lB5EKS5Uk'])).toEqual([undefined])
      expect(await state.countOtherSources!()).toEqual([{ source: 'stand-in', collections: 1, points: 1, records: 0 }])
    }
    await other.state.delete('c', collection('c', 1))
    expect(await other.state.countOtherSources!()).toEqual([
      { source: 'stand-in', collections: 0, points: 0, records: 0 },
    ])
  })

  it('store the writes of the lease holder, and no writes of other nodes', async () => {
    const { one, other } = await openTwoNodes(3_600_000)
    await one.state.put(collection('c', 1))
    await one.state.putUsage({ day: '2026-11-20', used: 3 })
    await other.state.catchUp!()
    await expect(other.state.putUsage({ day: '2026-11-20', used: 1 })).rejects.toMatchObject({ code: 'LEASE_LOST' })
    await other.state.putSnapshots([row('c', 5, 1)])
    await other.state.putVideos([{ id: '-4lB5EKS5Uk', details: { id: '-4lB5EKS5Uk', asOf: 1 } }])
    await other.state.catchUp!()
    expect(await other.state.getSnapshot('c')).toBeUndefined()
    expect(await other.state.getVideos(['-4lB5EKS5Uk'])).toEqual([undefined])
    expect(await other.state.getUsage()).toEqual({ day: '2026-11-20', used: 3 })
    // Another node takes the lease over as soon as it is released.
    await one.state.close()
    await other.held()
    await other.state.putUsage({ day: '2026-11-20', used: 4 })
  })
})

const at = (seq: number): LogPosition => ({ epoch: 'e', seq, at: 0, check: 0, writers: [] })
const toEntries = (changes: readonly StatsChange[]): LogEntry[] =>
  changes.map((change, i) => ({ seq: i + 1, at: 0, kind: CHANGE_KIND, body: encodeChange(change) }))

type OpenedNode = Awaited<ReturnType<typeof openTestStateMachine>>

async function readContents({ level }: OpenedNode): Promise<(readonly [string, string])[]> {
  const rows: [string, string][] = await level.db.iterator().all()
  return rows.filter(([key]) => key !== POSITION_KEY && key !== SOURCES_KEY)
}

const id = fc.constantFrom('a', 'b')
const revision = fc.integer({ min: 1, max: 3 })
const before = fc.option(revision, { nil: undefined })
const change: fc.Arbitrary<StatsChange> = fc.oneof(
  fc.record({ id, revision, before }).map(({ id, revision, before }) => ({
    type: 'put' as const,
    collection: collection(id, revision),
    ...(before && { before }),
  })),
  fc.record({ id, before, trashed: before }).map(({ id, before, trashed }) => ({
    type: 'delete' as const,
    id,
    ...(before && { before }),
    ...(trashed && { trashed }),
  })),
  fc.record({ id, revision, before: revision }).map(({ id, revision, before }) => ({
    type: 'trash' as const,
    collection: { ...collection(id, revision), deleted: '2026-11-20T12:00:00.000Z' },
    before,
  })),
  fc.record({ id, revision, trashed: revision }).map(({ id, revision, trashed }) => ({
    type: 'restore' as const,
    collection: collection(id, revision),
    trashed,
  })),
  fc.record({ id, isNew: fc.boolean() }).map(({ id, isNew }) => ({
    type: 'records' as const,
    rows: [
      { kind: 'post' as const, key: `${id}/p`, ...(isNew && { value: {} }) },
      { kind: 'channel' as const, key: id, ...(isNew && { value: {} }) },
    ],
  })),
  fc
    .record({ id, at: fc.integer({ min: 0, max: 5 }), revision })
    .map(({ id, at, revision }) => ({ type: 'snapshots' as const, rows: [row(id, at, revision)] })),
  fc
    .record({ id, times: fc.array(fc.integer({ min: 0, max: 5 })) })
    .map((one) => ({ type: 'deletePoints' as const, ...one })),
  fc.nat(9).map((used) => ({ type: 'usage' as const, usage: { day: '2026-11-20', used } })),
  id.map((id) => ({ type: 'wanted' as const, id })),
)

describe('the state machine', () => {
  it('is the same on every node and in a standalone service, regardless of the batches and restarts', async () => {
    const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 5 }))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 16 }), cuts, async (changes, cuts) => {
        const entries = toEntries(changes)
        const changesSeen: unknown[] = []
        const one = await openTestStateMachine({ onChanges: (some) => void changesSeen.push(...some) })
        const outcomes: unknown[] = []
        for (const entry of entries) outcomes.push(...(await one.stateMachine.apply([entry], at(entry.seq))))
        expect(changesSeen).toHaveLength(outcomes.filter(Boolean).length)
        const folder = createTemporaryFolder()
        const others: unknown[] = []
        for (let from = 0; from < entries.length;) {
          const other = await openTestStateMachine({}, folder)
          expect(other.stateMachine.getPosition()?.seq ?? 0).toBe(from)
          const some = entries.slice(from, (from += cuts.next().value!))
          others.push(...(await other.stateMachine.apply(some, at(some.at(-1)!.seq))))
          await other.level.close()
        }
        const other = await openTestStateMachine({}, folder)
        const standalone = await openTestStateMachine({ isReplica: false })
        const standaloneOutcomes = await standalone.stateMachine.apply(entries, at(entries.length))
        expect([others, standaloneOutcomes]).toEqual([outcomes, outcomes])
        for (const node of [other, standalone]) expect(await readContents(node)).toEqual(await readContents(one))
        // A history belongs to a collection or to one in the trash, and no collection is in both places.
        for (const id of ['a', 'b']) {
          const [live, trashed] = await other.level.db.getMany([`c!${id}`, `r!trash!${id}`])
          expect(live !== undefined && trashed !== undefined).toBe(false)
          const points = await other.level.db.keys({ gt: `h!${id}!`, lt: `h!${id}"` }).all()
          if (points.length > 0) expect(live ?? trashed).toBeDefined()
        }
        for (const { level } of [other, standalone, one]) await level.close()
      }),
      { numRuns: 40 },
    )
  })

  it('deletes with a collection the points that the same batch added', async () => {
    const one = await openTestStateMachine()
    onTestFinished(() => one.level.close())
    const changes: StatsChange[] = [
      { type: 'put', collection: collection('c', 1) },
      { type: 'snapshots', rows: [row('c', 4, 1)] },
      { type: 'delete', id: 'c', before: 1 },
      { type: 'snapshots', rows: [row('c', 5, 1)] },
    ]
    expect(await one.stateMachine.apply(toEntries(changes), at(4))).toEqual([true, true, true, true])
    expect(await readContents(one)).toEqual([])
  })

  it('evaluates a batch once: after a fault it writes the same result', async () => {
    const changesSeen: unknown[] = []
    const { level, stateMachine } = await openTestStateMachine({ onChanges: (some) => void changesSeen.push(...some) })
    onTestFinished(() => level.close())
    const entries = toEntries([{ type: 'put', collection: collection('c', 1) }])
    // The write succeeds but is reported as failed.
    const failing = vi.spyOn(level, 'write').mockImplementationOnce(async (run) => {
      await run(level.db)
      throw new Error('who knows')
    })
    await expect(stateMachine.apply(entries, at(1))).rejects.toThrow('who knows')
    expect([stateMachine.getPosition(), changesSeen]).toEqual([undefined, []])
    failing.mockRestore()
    expect(await stateMachine.apply(entries, at(1))).toEqual([true])
    expect(changesSeen).toHaveLength(1)
  })

  it('is restored from a snapshot, which replaces all data; a truncated snapshot is refused', async () => {
    const one = await openTestStateMachine()
    const other = await openTestStateMachine()
    onTestFinished(async () => {
      await one.level.close()
      await other.level.close()
    })
    const changes: StatsChange[] = []
    for (let i = 0; i < 60; i++) {
      const name = `c${i}`
      changes.push({ type: 'put', collection: { ...collection(name, 1), name: `${i}\n\u2028\u{1f600}é`.repeat(9) } })
      changes.push({ type: 'snapshots', rows: [row(name, 5, 1)] })
    }
    changes.push({ type: 'videos', rows: [{ id: '-4lB5EKS5Uk', point: row('c', 3).point! }] })
    await one.stateMachine.apply(toEntries(changes), at(changes.length))
    await other.stateMachine.apply(toEntries([{ type: 'put', collection: collection('stale', 1) }]), at(1))
    const whole = Buffer.concat(await Array.fromAsync(one.stateMachine.snapshot()))
    async function* cutSnapshot(end: number) {
      for (let from = 0; from < end; from += 777) yield whole.subarray(from, Math.min(end, from + 777))
    }
    for (const end of [0, 10, 5_000, whole.length - 5])
      await expect(other.stateMachine.restore(cutSnapshot(end))).rejects.toThrow('truncated')
    expect(other.stateMachine.getPosition()).toBeUndefined()
    await other.stateMachine.restore(cutSnapshot(whole.length))
    expect(await readContents(other)).toEqual(await readContents(one))
    expect(other.stateMachine.getPosition()).toEqual(at(changes.length))
    expect(await other.level.db.get(`h!${toHistoryId('-4lB5EKS5Uk')}!${'3'.padStart(16, '0')}`)).toBeDefined()
  })

  it('is empty after a reboot of the machine, unless it was settled', async () => {
    const folder = createTemporaryFolder()
    const entries = toEntries([{ type: 'put', collection: collection('c', 1) }])
    const first = await openTestStateMachine({}, folder)
    await first.stateMachine.apply(entries, at(1))
    await first.stateMachine.settle()
    const own = JSON.parse((await first.level.db.get(POSITION_KEY))!)
    await first.level.close()
    const second = await openTestStateMachine({}, folder)
    expect(second.stateMachine.getPosition()).toEqual(at(1))
    await second.level.db.put(POSITION_KEY, JSON.stringify({ ...own, boot: 'another' }))
    await second.level.close()
    const third = await openTestStateMachine({}, folder)
    expect(third.stateMachine.getPosition()).toBeUndefined()
    expect(await readContents(third)).toEqual([])
    await third.level.close()
  })

  it.each([
    ['a kind', { kind: 9, body: Buffer.from('{}') }],
    ['a change', { kind: CHANGE_KIND, body: Buffer.from('{"type":"later"}') }],
  ])('stops at %s that is unknown', async (_, entry) => {
    const { level, stateMachine } = await openTestStateMachine()
    onTestFinished(() => level.close())
    const applied = stateMachine.apply([{ seq: 1, at: 0, ...entry }], at(1))
    await expect(applied).rejects.toThrow(FrameError)
    await expect(applied).rejects.toMatchObject({ code: 'LOG_FORMAT_UNKNOWN' })
    expect(stateMachine.getPosition()).toBeUndefined()
  })
})
