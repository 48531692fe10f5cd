import { existsSync } from 'node:fs'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it } from 'vitest'
import { listConclusions, listRowsBehind } from '../src/report/conclusions.ts'
import { UNKNOWN_REASON } from '../src/report/reasons.ts'
import { appendGuardRun, readGuardRuns } from '../src/report/guard-history.ts'
import { renderReport } from '../src/report/html.ts'
import { createPlots } from '../src/report/plots.ts'
import { readResults } from '../src/report/results.ts'
import type { RowResult } from '../src/row.ts'
import { tables } from '../src/tables/all.ts'
import { createResult, published, SLOW, table } from './support/report-fixtures.ts'

describe('the report', () => {
  it('escapes its texts, and has contents, headings by service and names of its plots', () => {
    const page = renderReport([{ ...published[0]!, table: { ...table, title: '<u>' } }])
    expect(page).toContain('&lt;u>')
    expect(page).not.toContain('<u>')
    expect(page).toContain('<a href="#stats">')
    expect(page).toContain('<details id="stats-read">')
    expect(page).toContain('<h2 id="stats">')
    expect(
      page
        .match(/<(?:svg|div) class="(?:curves|bars)"[^>]*>/g)!
        .filter((tag) => !/role="img" aria-label="[^"]+"/.test(tag)),
    ).toEqual([])
  })

  it('names the existing flame graphs', () => {
    const names = /pnpm flame --open NAME<\/code> opens: (.+?)<\/p>/.exec(renderReport(published))![1]!.split(' · ')
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
      ['`pnpm bench compare "stats/read: ours / nginx"`', 'better', '0.50 (0.50 to 0.50)', '2.00 (2.00 to 2.00)'],
      ['`pnpm bench compare "stats/read: ours / bare"`', 'too few starts', '0.75', '1.50'],
    ])
    const [, ...behind] = listRowsBehind(measured)
    expect(behind.map(([command, values]) => [command, values])).toEqual([
      ['`pnpm bench compare "stats/read: ours / etcd"`', 'CPU 2.00 (2.00 to 2.00); operations/s 0.50 (0.50 to 0.50)'],
    ])
  })

  it('states the cause and the work for each row that is behind', () => {
    const [, ...behind] = listRowsBehind(readResults(tables))
    expect(behind.filter(([, , cause]) => cause === UNKNOWN_REASON.cause)).toEqual([])
    for (const [, , , work] of behind) expect(work).toMatch(/\w+/)
    const steps = [['ours', 'bare node:net']] as const
    const results = [createResult('ours', [2, 2, 2, 2, 2, 2, 2]), createResult('bare node:net', [1, 1, 1, 1, 1, 1, 1])]
    const [, [command, , cause] = []] = listRowsBehind([{ ...published[0]!, table: { ...table, steps }, results }])
    expect(command).toBe('`pnpm bench compare "stats/read: ours / bare node:net"`')
    expect(cause).toMatch(/parses nothing/)
  })

  it('gives rows with the same cause one line, with the command of each', () => {
    const names = ['GET', 'PUT', 'bare GET', 'bare PUT']
    const results = names.map((name, i) =>
      createResult(
        name,
        Array.from({ length: 7 }, () => (i < 2 ? 2 : 1)),
      ),
    )
    const steps = [
      ['GET', 'bare GET'],
      ['PUT', 'bare PUT'],
    ] as const
    const [, ...lines] = listRowsBehind([{ ...published[0]!, table: { ...table, service: 'kv', steps }, results }])
    expect(lines.map(([commands]) => commands)).toEqual([
      '`pnpm bench compare "kv/read: GET / bare GET"`\n`pnpm bench compare "kv/read: PUT / bare PUT"`',
    ])
    expect(lines[0]![1]).toBe(
      Array.from({ length: 2 }, () => 'CPU 2.00 (2.00 to 2.00); operations/s 0.50 (0.50 to 0.50)').join('\n'),
    )
  })

  it('has the row whose base does not fit into memory', () => {
    const commands = listRowsBehind(readResults(tables)).flatMap(([command]) => command!.split('\n'))
    const { results } = readResults(tables.filter(({ name }) => name === 'scarce'))[0]!
    const [{ source, rounds }] = results.filter(({ name }) => name.startsWith('GET, full base, 1')) as [RowResult]
    const isSourceBetter = Number(rounds[0]!.rate) < Number(source!.rate)
    expect(commands.includes('`pnpm bench --table kv/scarce`: GET, full base')).toBe(isSourceBetter)
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
    expect(plot!.html.match(/<path/g)).toHaveLength(2)
  })

  it('has bars of linear lengths', () => {
    const [plot] = createPlots([createResult('a', [1]), createResult('b', [200])], table)
    expect(plot!.html.match(/class="fill" style="width:[^"]+"/g)).toEqual([
      'class="fill" style="width:0.5%"',
      'class="fill" style="width:100.0%"',
    ])
  })

  it('begins with five sentences and five linear bars, and names the lowest and highest ratio of each', () => {
    const page = renderReport(readResults(tables))
    const [, first] = /<section class="first">([^]*?)<\/section>/.exec(page)!
    expect(first!.match(/<p>/g)).toHaveLength(5)
    expect(first!.match(/class="bar(?: worse)?"/g)).toHaveLength(5)
    expect(first!.match(/\d\.\d\d \(\d\.\d\d to \d\.\d\d\)/g)).toHaveLength(10)
    expect(first).toContain('one kind of processor, ')
  })

  it('combines the results of two kinds of processors on the first screen', () => {
    const steps = [['v8', 'nginx static file']] as const
    const measure = (processor: string, cpu: number) => ({
      ...published[0]!,
      machine: { ...published[0]!.machine, processor },
      table: { ...table, steps },
      results: [
        createResult(
          'v8',
          Array.from({ length: 7 }, () => cpu),
        ),
        createResult('nginx static file', [4, 4, 4, 4, 4, 4, 5]),
      ],
    })
    const page = renderReport([measure('A', 2), measure('B', 6)])
    expect(page).toContain('takes 0.50 to 1.50 (0.40 to 1.50) times the CPU time of one from nginx')
    expect(page).toContain('2 kinds of processors: A and B')
  })

  it('shows the published runs of the guard, the newest first, and the rows that cost more or less', () => {
    const folder = createTemporaryFolder()
    const rows = { read: [0.98, 0.97, 0.99], start: [1.09, 1.02, 1.17], put: [1.01, 0.99, 1.02] } as const
    for (const [commit, day] of [
      ['aaa', '2026-11-20'],
      ['bbb', '2026-11-21'],
    ] as const)
      appendGuardRun(
        { machine: { ...published[0]!.machine, processor: 'P', commit, date: day }, base: 'c'.repeat(40), rows },
        folder,
      )
    const page = renderReport(published, readGuardRuns(folder))
    expect(page).toContain(
      'P, bbb against cccccccccccc, 2026-11-21, has 3 rows. Interval above 1: start 1.090 (1.020 to 1.170). Interval below 1: read 0.980 (0.970 to 0.990).',
    )
    const heads = ['row', 'P, bbb against cccccccccccc, 2026-11-21', 'P, aaa against cccccccccccc, 2026-11-20']
    expect(page).toContain(heads.map((head) => `<th scope="col">${head}</th>`).join(''))
    expect(page).toContain('<td data-label="row">put</td>')
    expect(renderReport(published, [])).toContain('No run is published yet')
  })
})
