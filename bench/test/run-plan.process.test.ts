import { describe, expect, it } from 'vitest'
import type { BenchRow, RowResult } from '../src/row.ts'
import { groupByPace } from '../src/run/pace.ts'
import { planGroups, planGroupSteps } from '../src/run/run-plan.ts'
import { createRequestRound } from '../src/rounds/request-round.ts'
import { hasPairs, listSteps, type BenchTable } from '../src/table.ts'
import { tables } from '../src/tables/all.ts'
import { createServerlessTarget } from '../src/targets/target.ts'
import { table } from './support/report-fixtures.ts'

const createRow = (name: string, more: Partial<BenchRow> = {}): BenchRow => {
  return { name, target: createServerlessTarget(name), round: async () => ({}), ...more }
}
const createTable = (name: string, rows: readonly BenchRow[], more: Partial<BenchTable> = {}): BenchTable => {
  const { steps: _, ...rest } = table
  return { ...rest, name, rows: () => [...rows], ...more }
}
const plan = (...all: BenchTable[]) => planGroups(all, (one) => one.rows([]))

describe('tables of a group', () => {
  const reads = createTable('read', [createRow('v8', { sharedAs: 'a' }), createRow('v1')], {
    group: 'reads',
    steps: [['v8', 'v1']],
    maxRounds: 5,
  })
  const peers = createTable('peers', [createRow('ours', { sharedAs: 'a', source: { cpu: 7 } }), createRow('nginx')], {
    group: 'reads',
  })

  it('measure a shared row once, as often as the table with the most rounds, and have its result', () => {
    const [group, ...more] = plan(reads, peers)
    expect(more).toEqual([])
    expect(group!.rows.map(({ name, maxRounds }) => [name, maxRounds])).toEqual([
      ['stats/read: v8', 5],
      ['stats/read: v1', 5],
      ['stats/peers: nginx', 3],
    ])
    expect(planGroupSteps(group!, 6)).toHaveLength(13)
    const results = group!.rows.map(({ name }, i): RowResult => {
      return { name, contender: '', starts: 1, rounds: [{ cpu: i }] }
    })
    expect(group!.resultsOf(peers, results)).toMatchObject([
      { name: 'ours', rounds: [{ cpu: 0 }], source: { cpu: 7 } },
      { name: 'nginx', rounds: [{ cpu: 2 }] },
    ])
  })

  it('have ratios of requests by rows that are loaded in turn, each pair once', () => {
    const { requests } = createRequestRound({ says: '', requests: [], expect: { status: 200 }, connections: 1 })
    const rows = ['v8', 'v1', 'other'].map((name) =>
      createRow(name, { sharedAs: name, ...(name !== 'other' && { requests: requests! }) }),
    )
    const steps = [
      ['v8', 'v1'],
      ['v8', 'other'],
    ] as const
    const again = rows.map((row) => ({ ...row, name: `${row.name}, again` }))
    const [one, two] = [
      createTable('read', rows, { group: 'reads', steps }),
      createTable('peers', again, { group: 'reads', steps: [['v8, again', 'v1, again']] }),
    ]
    const [group] = plan(one!, two!)
    expect(group!.comparisons).toEqual([['stats/read: v8', 'stats/read: v1']])
    expect(planGroupSteps(group!, 6)).toHaveLength(9 + 6)
    const pair = { cpu: 2, perSecond: 0.5, generator: 0.1 }
    const results = group!.rows.map(({ name }): RowResult => {
      return { name, contender: '', starts: 0, rounds: [], comparisons: { 'stats/read: v1': [pair] } }
    })
    expect(group!.resultsOf(two!, results)[0]!.comparisons).toEqual({ 'v1, again': [pair] })
  })

  it('have ratios of requests only between rows with requests', () => {
    for (const group of planGroups(tables, (one) => one.rows([]))) {
      for (const one of group.tables.filter(hasPairs)) {
        const names = one.rows([]).map(({ name }) => name)
        const known = listSteps(one, names).filter((step) => step.every((name) => names.includes(name)))
        expect(group.comparisons.length).toBeGreaterThanOrEqual(new Set(known.map((step) => step.join(' / '))).size)
      }
    }
  })

  it('are measured apart without a common group', () => {
    expect(plan(reads, { ...peers, group: 'others' }).map(({ rows }) => rows.length)).toEqual([2, 2])
  })

  it('share only rows with the same load', () => {
    for (const group of planGroups(tables, (one) => one.rows([]))) {
      const shared = group.tables.flatMap((one) => one.rows([])).filter(({ sharedAs }) => sharedAs !== undefined)
      for (const rows of Map.groupBy(shared, ({ sharedAs }) => sharedAs).values()) {
        expect(new Set(rows.map(({ target }) => target.name)).size).toBe(1)
        expect(new Set(rows.map(({ requests }) => JSON.stringify(requests))).size).toBe(1)
      }
    }
  })
})

describe('a pace', () => {
  it('is that of all rows that are compared, also through others', () => {
    const names = ['a', 'b', 'c', 'd']
    const groups = groupByPace(names, [
      ['a', 'b'],
      ['c', 'b'],
      ['d', 'missing'],
    ])
    expect(new Set(['a', 'b', 'c'].map((name) => groups.get(name))).size).toBe(1)
    expect(groups.get('d')).toBe('d')
  })

  it('is that of all sizes of a growth table, and differs between classes of rows', () => {
    const sizes = ['GET, 10', 'GET, 1,000', 'PUT, 10'].map((name) => createRow(name))
    expect(plan(createTable('growth', sizes, { against: 'size' }))[0]!.steps).toEqual([
      ['stats/growth: GET, 1,000', 'stats/growth: GET, 10'],
    ])
    const [group] = plan(
      createTable(
        'read',
        ['v1', 'v2', 'v3'].map((name) => createRow(name)),
        {
          steps: [
            ['v2', 'v1'],
            ['v3', 'v2'],
          ],
          paceClass: (row) => (row === 'v1' ? 'slow' : 'fast'),
        },
      ),
    )
    expect(group!.steps).toEqual([['stats/read: v3', 'stats/read: v2']])
  })
})
