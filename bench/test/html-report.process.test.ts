import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { listConclusions, listRowsBehind, listSourcePairs } from '../src/report/conclusions.ts'
import { UNKNOWN_REASON } from '../src/report/reasons.ts'
import { renderReport } from '../src/report/html.ts'
import { createPlots } from '../src/report/plots.ts'
import { readResults } from '../src/report/results.ts'
import type { RowResult } from '../src/row.ts'
import { tables } from '../src/tables/all.ts'
import { createResult, published, SLOW, table } from './support/report-fixtures.ts'

describe('the report', () => {
  it('escapes its texts, and has contents, headings by service and names of its plots', () => {
    const page = renderReport([{ ...published[0]!, table: { ...table, title: '<b>' } }])
    expect(page).toContain('&lt;b>')
    expect(page).not.toContain('<b>')
    expect(page).toContain('<a href="#stats-read">')
    expect(page).toContain('<h2 id="stats">')
    expect(page.match(/<svg[^>]*>/g)!.filter((tag) => !/role="img" aria-label="[^"]+"/.test(tag))).toEqual([])
  })

  it('names the existing flame graphs', () => {
    const names = /pnpm flame --open NAME<\/code> opens: (.+)<\/p>/.exec(renderReport(published))![1]!.split(' · ')
    expect(names.length).toBeGreaterThan(7)
    expect(names.filter((name) => !existsSync(new URL(`../../flame/${name}`, import.meta.url)))).toEqual([])
  })

  it('states for each peer if ours is better, worse, or if it has too few starts', () => {
    const ownRow = createResult('ours', [1, 1, 1, 1, 1, 1, 1])
    const peers = [
      createResult('nginx', [2, 2, 2, 2, 2, 2, 2]),
      createResult('etcd', [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
      createResult('bare', [1, 2]),
      createResult('v1', [2, 2, 2, 2, 2, 2, 2]),
    ]
    const steps = peers.map(({ name }) => ['ours', name] as const)
    const measured = [{ ...published[0]!, table: { ...table, steps }, results: [ownRow, ...peers] }]
    expect(listConclusions(measured).slice(1)).toEqual([
      ['pnpm bench compare "stats/read: ours / nginx"', 'better', '0.50 (0.50 to 0.50)', '2.00 (2.00 to 2.00)'],
      ['pnpm bench compare "stats/read: ours / bare"', 'too few starts', '0.75', '1.50'],
    ])
    const [, ...behind] = listRowsBehind(measured)
    expect(behind.map(([command, values]) => [command, values])).toEqual([
      ['pnpm bench compare "stats/read: ours / etcd"', 'CPU 2.00 (2.00 to 2.00); operations/s 0.50 (0.50 to 0.50)'],
    ])
  })

  it('states the cause and the work for each row that is behind', () => {
    const [, ...behind] = listRowsBehind(readResults(tables))
    expect(behind.filter(([, , cause]) => cause === UNKNOWN_REASON.cause)).toEqual([])
    for (const [, , , work] of behind) expect(work).toMatch(/\w+/)
    const steps = [['ours', 'bare node:net']] as const
    const results = [createResult('ours', [2, 2, 2, 2, 2, 2, 2]), createResult('bare node:net', [1, 1, 1, 1, 1, 1, 1])]
    const [, [command, , cause] = []] = listRowsBehind([{ ...published[0]!, table: { ...table, steps }, results }])
    expect(command).toBe('pnpm bench compare "stats/read: ours / bare node:net"')
    expect(cause).toMatch(/parses nothing/)
  })

  it('lists the values of a source that are better than ours, with their units', () => {
    const columns = {
      perSecond: { head: 'requests/s', better: 'more' },
      'source: perSecond': 'source/s',
      share: { head: 'CPU', better: 'less', sourceUnits: 100 },
      'source: share': 'source: CPU',
      count: { head: 'count', better: 'neither' },
      'source: count': 'source: count',
    } as const
    const of = (name: string, perSecond: number, share: number) => ({
      ...createResult(name, []),
      rounds: [{ perSecond, share, count: 1 }],
      source: { perSecond: 200, share: 20, count: 2 },
    })
    const results = [of('faster', 201, 0.19), of('slower', 199, 0.19), of('both', 100, 0.21), createResult('v1', SLOW)]
    const [, ...lines] = listRowsBehind([{ ...published[0]!, table: { ...table, steps: [], columns }, results }])
    expect(lines.map(([command, values]) => [command, values])).toEqual([
      ['pnpm bench --table stats/read: slower', 'requests/s 199 (200)'],
      ['pnpm bench --table stats/read: both', 'requests/s 100 (200); CPU 0.2 (20.0)'],
    ])
  })

  it('lists no source that is not better, and reports one that is with its reason', () => {
    const columns = { perSecond: { head: 'requests/s', better: 'more' }, 'source: perSecond': 'source/s' } as const
    const measure = (perSecond: number) => {
      const results = [{ ...createResult('v9', SLOW), source: { perSecond } }]
      return [{ ...published[0]!, table: { ...table, steps: [], columns }, results }]
    }
    expect(listRowsBehind(measure(1))).toHaveLength(1)
    expect(listRowsBehind(measure(1e9))[1]!.slice(2)).toEqual([UNKNOWN_REASON.cause, UNKNOWN_REASON.work])
    expect(renderReport(measure(1e9))).toContain('stats/read: v9')
  })

  it('defines which value is better for each value of a source', () => {
    const undecided = readResults(tables).flatMap((one) =>
      one.results.flatMap((result) =>
        listSourcePairs(result, one.table).flatMap(({ column, text }) =>
          column.better ? [] : [`${result.name}: ${text}`],
        ),
      ),
    )
    expect(undecided).toEqual([])
  })

  it('has the row whose base does not fit into memory', () => {
    const commands = listRowsBehind(readResults(tables)).map(([command]) => command)
    const { results } = readResults(tables.filter(({ name }) => name === 'scarce'))[0]!
    const [{ source, rounds }] = results.filter(({ name }) => name.startsWith('GET, full base, 1')) as [RowResult]
    const isSourceBetter = Number(rounds[0]!.rate) < Number(source!.rate)
    expect(commands.includes('pnpm bench --table kv/scarce: GET, full base, 1 connection')).toBe(isSourceBetter)
  })

  it('plots columns with whiskers, latencies, and growth against a size', () => {
    const latency = { p50: 1, p75: 2, p90: 3, p99: 4, p999: 5, max: 6, rate: 7 }
    const timed = createResult('v1', SLOW, { rounds: [{ ...latency, cpu: 1, size: 10 }], source: { perSecond: 36 } })
    expect(createPlots([timed], table).map(({ title }) => title.split(' ')[0])).toEqual(['Server', 'Latency'])
    const grown = ['a, 10', 'a, 100', 'b, 10'].map((name, i) => ({
      ...timed,
      name,
      rounds: [{ cpu: 1 + i, size: 10 ** (i + 1) }],
    }))
    const [plot, ...more] = createPlots(grown, { ...table, against: 'size' })
    expect(more).toEqual([])
    expect(plot!.svg.match(/<path/g)).toHaveLength(2)
  })

  it('states that lengths are logarithmic if one bar would hide the rest', () => {
    const [closeResults, distantResults] = [
      [createResult('a', [1]), createResult('b', [2])],
      [createResult('a', [1]), createResult('b', [200])],
    ]
    expect(createPlots(closeResults, table)[0]!.title).not.toContain('logarithms')
    expect(createPlots(distantResults, table)[0]!.title).toContain('logarithms')
  })
})
