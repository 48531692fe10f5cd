import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createLevelReads } from '../src/state/level-reads.ts'
import { POSITION_KEY } from '../src/state/level-snapshot.ts'
import { SOURCES_KEY } from '../src/state/level-keys.ts'
import { CHANGE_KIND, encodeChange, type StatsChange } from '../src/state/stats-change.ts'
import { openTestStateMachine } from './support/cluster-node.ts'

const collection = (id: string, revision: number) => ({ id, videos: [], revision })
const at = (seq: number): LogPosition => ({ epoch: 'e', seq, at: 0, check: 0, writers: [] })
const toEntries = (changes: readonly StatsChange[]): LogEntry[] =>
  changes.map((change, i) => ({ seq: i + 1, at: 0, kind: CHANGE_KIND, body: encodeChange(change) }))
const row = (id: string, asOf: number, revision: number) => ({
  id,
  revision,
  snapshot: { videos: [], missing: [], asOf },
})

async function readContents({ level }: Awaited<ReturnType<typeof openTestStateMachine>>) {
  const rows: [string, string][] = await level.db.iterator().all()
  return rows.filter(([key]) => key !== POSITION_KEY && key !== SOURCES_KEY)
}

describe('the state machine', () => {
  it('restores a collection only from the trash, and only the deleted version of it', async () => {
    const one = await openTestStateMachine()
    onTestFinished(() => one.level.close())
    const trashed = { ...collection('c', 2), deleted: '2026-11-20T12:00:00.000Z' }
    const changes: StatsChange[] = [
      { type: 'put', collection: collection('c', 1) },
      { type: 'restore', collection: collection('c', 5), trashed: 1 },
      { type: 'trash', collection: trashed, before: 9 },
      { type: 'trash', collection: trashed, before: 1 },
      { type: 'trash', collection: trashed, before: 1 },
      { type: 'snapshots', rows: [row('c', 5, 1)] },
      { type: 'delete', id: 'c', trashed: 1 },
      { type: 'restore', collection: collection('c', 3), trashed: 1 },
      { type: 'restore', collection: collection('c', 3), trashed: 2 },
      { type: 'restore', collection: collection('c', 4), trashed: 2 },
    ]
    const outcomes = [true, false, false, true, false, true, false, false, true, false]
    expect(await one.stateMachine.apply(toEntries(changes), at(10))).toEqual(outcomes)
    expect(await readContents(one)).toEqual([['c!c', JSON.stringify(collection('c', 3))]])
  })

  it('writes records all together, and only if each replaces the revision that it names', async () => {
    const { level, stateMachine } = await openTestStateMachine()
    onTestFinished(() => level.close())
    const post = (revision: number, before?: number, key = 'c/p') =>
      ({ kind: 'post', key, value: { revision }, ...(before !== undefined && { before }) }) as const
    const numbers = (n: number) => ({ kind: 'post-numbers', key: `c/p/${n}`, value: { n } }) as const
    const deletion = (before: number) => ({ kind: 'post', key: 'c/p', value: undefined, before }) as const
    const changes: (readonly [rows: Extract<StatsChange, { type: 'records' }>['rows'], isApplied: boolean])[] = [
      // There must be none.
      [[post(5, 4)], false],
      [[post(5, 0), numbers(1)], true],
      // Two nodes that replaced the same revision: the first one wins, also within one batch.
      [[post(6, 0), numbers(2)], false],
      [[post(7, 5), numbers(3)], true],
      [[post(8, 5), numbers(4)], false],
      // One row of several does not fit.
      [[post(9, 7), post(9, 1, 'c/q')], false],
      [[deletion(5)], false],
      [[deletion(7), { ...numbers(1), value: undefined }], true],
      [[deletion(7)], false],
      [[post(10, 7)], false],
      [[post(10, 0)], true],
      // Without `before` the row is replaced in any case.
      [[post(11)], true],
    ]
    const entries: StatsChange[] = [
      { type: 'put', collection: collection('c', 1) },
      ...changes.map(([rows]) => ({ type: 'records', rows }) as const),
    ]
    const outcomes = [true, ...changes.map(([, isApplied]) => isApplied)]
    expect(await stateMachine.apply(toEntries(entries), at(entries.length))).toEqual(outcomes)
    const reads = createLevelReads(level)
    const stored = { post: ['c/p', 'c/q'], 'post-numbers': [1, 2, 3, 4].map((n) => `c/p/${n}`) } as const
    expect(await reads.getRecords('post', stored.post)).toEqual([{ revision: 11 }, undefined])
    expect(await reads.getRecords('post-numbers', stored['post-numbers'])).toEqual([
      undefined,
      undefined,
      { n: 3 },
      undefined,
    ])
    // In batches of any size the same entries have the same outcomes and contents.
    for (const size of [1, 7]) {
      const other = await openTestStateMachine()
      onTestFinished(() => other.level.close())
      const all = toEntries(entries)
      const results: unknown[] = []
      for (let i = 0; i < all.length; i += size) {
        const batch = all.slice(i, i + size)
        results.push(...((await other.stateMachine.apply(batch, at(i + batch.length))) as unknown[]))
      }
      expect(results).toEqual(outcomes)
      expect(await readContents(other)).toEqual(await readContents({ level, stateMachine }))
    }
  })

  it('refuses records of a kind that it does not know', async () => {
    const one = await openTestStateMachine()
    onTestFinished(() => one.level.close())
    const change = { type: 'records', rows: [{ kind: 'toString' as 'post', key: 'a/p', value: {} }] } as const
    await expect(one.stateMachine.apply(toEntries([change]), at(1))).rejects.toMatchObject({
      code: 'LOG_FORMAT_UNKNOWN',
    })
  })

  it('stores records by their source, and counts those of other sources', async () => {
    const { level, stateMachine } = await openTestStateMachine()
    onTestFinished(() => level.close())
    const channel = (n: number, from: string): StatsChange => ({
      type: 'records',
      rows: [{ kind: 'channel', key: 'UCa', value: { n } }],
      from,
    })
    const changes: StatsChange[] = [
      { type: 'source', source: 'one', before: undefined },
      channel(1, 'one'),
      channel(2, 'two'),
      { type: 'records', rows: [{ kind: 'post', key: 'c/p', value: { n: 2 } }] },
      { type: 'put', collection: collection('c', 1) },
      { type: 'records', rows: [{ kind: 'post', key: 'c/p', value: { n: 3 } }] },
      { type: 'source', source: 'two', before: 'one' },
      channel(4, 'two'),
      channel(5, 'one'),
    ]
    const outcomes = [true, true, false, false, true, true, true, true, false]
    expect(await stateMachine.apply(toEntries(changes), at(changes.length))).toEqual(outcomes)
    const reads = createLevelReads(level)
    expect(await reads.getRecords('channel', ['UCa'])).toEqual([{ n: 4 }])
    expect(await reads.getRecords('post', ['c/p'])).toEqual([{ n: 3 }])
    expect(await reads.countOtherSources()).toEqual([{ source: 'one', collections: 0, points: 0, records: 1 }])
  })
})
