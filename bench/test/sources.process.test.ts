import { describe, expect, it } from 'vitest'
import { findReason, UNKNOWN_REASON } from '../src/report/reasons.ts'
import { listRowsBehind } from '../src/report/conclusions.ts'
import { readResults } from '../src/report/results.ts'
import { sources } from '../src/sources/all.ts'
import { compareSources, formatOutcome } from '../src/report/compare-sources.ts'
import { buildSourcesPage } from '../src/report/source-pages.ts'
import { createFigure, createTheirFigure, getSourceValues, type Source } from '../src/sources/source-figures.ts'
import { tables } from '../src/tables/all.ts'
import { createResult, published, table } from './support/report-fixtures.ts'

const groups = sources.flatMap((source) => source.groups.map((group) => ({ source, group })))
const findTable = (name: string) => tables.find((one) => `${one.service}/${one.name}` === name)

describe('the sources', () => {
  it('have all rows that they publish', () => {
    const counts = groups.map(({ group }) => [group.title, group.rows.length])
    expect(Object.fromEntries(counts)).toMatchObject({
      'Reads of one collection of three videos': 5,
      'An empty collection, and the stand-in for YouTube': 2,
      'The first version with the real YouTube': 1,
      'Runs at a constant rate': 4,
      'First table: streams opened at a constant rate, one value to all': 9,
      'Second table: values at a constant rate': 17,
      'Timing (low level): one search': 8,
      'Timing (high level): percentiles over HTTP': 4,
      'Memory: totals': 5,
      'Memory: parts': 11,
    })
  })

  it.each(groups.filter(({ group }) => group.table))('$group.title: our rows and metrics exist', ({ group }) => {
    const rows = findTable(group.table!)!.rows([])
    const names = new Set(rows.map(({ name }) => name))
    const own = group.rows.flatMap((row) => ('notMeasured' in row.own ? [] : row.own))
    expect(own.filter((name) => !names.has(name))).toEqual([])
    const keys = new Set([...Object.keys(findTable(group.table!)!.columns), 'p75'])
    const metrics = Object.values(group.figures).flatMap((figure) => figure.metrics ?? [])
    expect(metrics.filter((name) => !keys.has(name))).toEqual([])
  })

  it('are equal to the values in the columns of tables', () => {
    const differing = groups.flatMap(({ source, group }) =>
      (findTable(group.table ?? '')?.rows([]) ?? []).flatMap((row) => {
        const values = getSourceValues(source, group.table!, row.name) ?? {}
        return Object.entries(row.source ?? {}).flatMap(([name, value]) => {
          const other = values[name]
          const isEqual = typeof value !== 'number' || typeof other !== 'number' || Math.abs(value / other - 1) < 0.01
          return isEqual || value === other ? [] : [`${group.table}: ${row.name} ${name} ${value} ${other}`]
        })
      }),
    )
    expect(differing).toEqual([])
  })

  it('never have stable rates next to closed loops of ours', () => {
    const stable = groups.filter(({ group }) => /stable/i.test(JSON.stringify(group.figures)))
    expect(stable.map(({ group }) => group.table)).toEqual(['kv/rates', 'kv/scarce'])
  })
})

/** A source with one table of ours: `stats/read`. */
const createSource = (rows: Source['groups'][number]['rows']): Source => ({
  service: 'stats',
  title: 'Other',
  machine: 'theirs',
  limits: 'none.',
  groups: [
    {
      title: 'Reads',
      table: 'stats/read',
      load: { theirs: '30 s', ours: '{rounds}' },
      figures: {
        rate: createFigure('requests/s', 'more', 'perSecond'),
        share: createFigure('CPU %', 'less', 'share', { scale: 100 }),
        p50: createFigure('p50 us', 'less', 'p50', { isOursEasier: true }),
        sum: { head: 'MB', better: 'less', metrics: ['shared', 'own'] },
        mean: createTheirFigure('mean us'),
      },
      rows,
    },
  ],
})

const measure = (rounds: readonly Readonly<Record<string, number>>[]) => [
  { ...published[0]!, results: [{ ...createResult('v1', []), rounds, starts: rounds.length, roundSeconds: 2 }] },
]

describe('a comparison with a source', () => {
  const rounds = [
    { perSecond: 210, share: 0.1, p50: 5, shared: 1, own: 2 },
    { perSecond: 230, share: 0.3, p50: 7, shared: 1, own: 2 },
    { perSecond: 220, share: 0.2, p50: 6, shared: 1, own: 2 },
  ]
  const compare = (values: Readonly<Record<string, number | string>>) => {
    const [group] = compareSources(measure(rounds), [createSource([{ name: 'theirs', own: ['v1'], values }])])
    return { group: group!, row: group!.rows[0]! }
  }

  it.each([
    [{ rate: 200 }, 'ahead'],
    [{ rate: 215 }, 'equal within the rounds'],
    [{ rate: 220.4 }, 'equal within the rounds'],
    [{ rate: 300 }, 'behind: requests/s'],
    [{ rate: 200, share: 15 }, 'ahead, but behind: CPU %'],
    [{ rate: 200, share: 25 }, 'ahead or equal'],
    [{ p50: 100 }, 'not judged'],
    [{ p50: 1 }, 'behind: p50 us'],
    [{ sum: 3 }, 'equal'],
    [{ sum: 2.999 }, 'equal'],
    [{ sum: 2 }, 'behind: MB'],
    [{ share: '90-100' }, 'not judged'],
  ])('%j: ours is %s', (values, outcome) => {
    expect(formatOutcome(compare(values).row)).toBe(outcome)
  })

  it('has both loads, and the values that only the source has', () => {
    const { group, row } = compare({ rate: 200, mean: 7 })
    expect(group.load).toBe('Their load: 30 s. Our load: 3 rounds of 2 s')
    expect(row.onlyTheirs).toBe('mean us 7')
    expect(row.figures).toEqual([{ head: 'requests/s', theirs: '200', ours: '220', outcome: 'ahead' }])
  })

  it('states that a cost below 0 cannot be measured', () => {
    const source = createSource([{ name: 'theirs', own: ['v1'], values: { sum: 3 } }])
    const [group] = compareSources(measure([{ shared: -2, own: 0.5 }]), [source])
    expect(group!.rows[0]!.figures[0]).toMatchObject({ ours: 'below what can be measured', outcome: 'ahead' })
  })

  it('states the reason if there is no measurement', () => {
    const rows = [
      { name: 'a', own: { notMeasured: 'needs a key' }, values: { rate: 1 } },
      { name: 'b', own: ['v9'], values: { rate: 1 } },
    ]
    const [group] = compareSources(measure(rounds), [createSource(rows)])
    expect(group!.rows.map(formatOutcome)).toEqual([
      'not measured: needs a key',
      'not measured: our row has no published result yet',
    ])
    expect(group!.rows[0]!.figures[0]).toMatchObject({ theirs: '1', ours: undefined })
  })

  it('is made once for each processor model', () => {
    const [one] = measure(rounds)
    const other = { ...one!, machine: { ...one!.machine, processor: 'Other CPU' } }
    const source = createSource([{ name: 'theirs', own: ['v1'], values: { rate: 200 } }])
    expect(compareSources([one!, other], [source]).map(({ machine }) => machine!.processor)).toEqual([
      one!.machine.processor,
      'Other CPU',
    ])
  })

  it('lists rows in which the source is ahead in the conclusions, with the command', () => {
    const [one] = measure(rounds)
    const source = createSource([
      { name: 'slower', own: ['v1'], values: { rate: 300 } },
      { name: 'faster', own: ['v1'], values: { rate: 100 } },
    ])
    const [, ...lines] = listRowsBehind([{ ...one!, table: { ...table, steps: [] } }], [source])
    expect(lines).toHaveLength(1)
    expect(lines[0]!.slice(0, 2)).toEqual(['`pnpm bench --table stats/read`: slower', 'requests/s 220 (300)'])
    expect(findReason('stats/nothing: v9 / the source')).toBe(UNKNOWN_REASON)
  })
})

describe('the page of sources', () => {
  const page = buildSourcesPage(readResults(tables))

  it('names machine, limits and load for each table', () => {
    for (const { service, title, machine } of sources) {
      expect(page).toContain(`## ${service}: ${title}`)
      expect(page).toContain(`Their machine: ${machine}. Limits:`)
    }
    const parts = page.split('\n### ').slice(1)
    expect(parts.length).toBeGreaterThanOrEqual(groups.length)
    for (const part of parts) expect(part).toMatch(/Their load: .+(?:commit [0-9a-f]{12}|Ours: not measured)/)
  })

  it('marks the values in which the source is better', () => {
    expect(page).toMatch(/\| total, map \| behind: MB \| \*\*180 \/ \d+\*\* \|/)
  })
})
