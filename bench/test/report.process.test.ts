import { formatTable } from '@influencer-stats/runtime/text-table'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { describe, expect, it } from 'vitest'
import { computeSteps } from '../src/ratios.ts'
import { listRowsBehind } from '../src/report/conclusions.ts'
import { renderReport } from '../src/report/html.ts'
import { withProse } from '../src/report/prose.ts'
import { replaceSection, buildSection, buildTexts, listStaleFiles } from '../src/report/publish.ts'
import { readResults, writeResults } from '../src/report/results.ts'
import { toMarkdown, buildStepsTable, buildTable, buildTables, splitTable } from '../src/report/table-cells.ts'
import type { RowMetrics, RowResult } from '../src/row.ts'
import { tables } from '../src/tables/all.ts'
import { createResult, FAST, machine, published, results, SLOW, table } from './support/report-fixtures.ts'

describe('steps', () => {
  it('compare adjacent rounds and omit failed rows', () => {
    const [step, ...more] = computeSteps(results, table)
    expect(more).toEqual([])
    expect(step!.name).toBe('v2 / v1')
    expect(step!.ratios.map(({ heading, median, verdict }) => [heading, median.toFixed(2), verdict])).toEqual([
      ['CPU us/request', '0.50', 'difference'],
      ['requests/s', '2.00', 'difference'],
    ])
    expect(step!.ratios[0]).toMatchObject({ low: 14 / 42, high: 21 / 41 })
  })

  it('do not round a ratio of 1 to 10,000 to zero', () => {
    const slow = createResult(
      'v1',
      SLOW.map((each) => 10_000 * each),
    )
    const [, [, cpu] = []] = buildStepsTable([slow, createResult('v2', FAST)], table)
    expect(cpu).toMatch(/^0\.000050 \(0\.0000\d+ to 0\.0000\d+, /)
  })

  it.each([0, 1])('compare the CPU instead of requests/s if the generator limited one side', (side) => {
    const limited = results.slice(0, 2).map((one, i) => {
      return i === side ? { ...one, rounds: one.rounds.map((each) => ({ ...each, generator: 0.9 })) } : one
    })
    const [, [, cpu, rate] = []] = buildStepsTable(limited, table)
    expect(cpu).toContain('0.500 (')
    expect(rate).toBe('the generator was the limit: compare CPU')
    expect(computeSteps(limited, table)[0]!.ratios.map(({ verdict }) => verdict)).toEqual(['difference', 'cannot tell'])
    const mark = '<!--= stats/read: v2 / v1 perSecond -->?<!--/-->'
    expect(() => withProse(mark, [{ table, machine, results: limited }])).toThrow('the generator was the limit')
  })

  it('have no ratio of costs if the two rows had different loads, but the reason', () => {
    const columns = {
      cpu: { head: 'CPU', ratio: true, equal: 'deliveries' },
      deliveries: { head: 'deliveries/s' },
    } as const
    const createRows = (other: number) =>
      [1_000, other].map((deliveries, i): RowResult => {
        return { name: `v${i + 1}`, contender: '', starts: 1, rounds: [{ cpu: i + 1, deliveries }] }
      })
    const ratioOf = (other: number) => buildStepsTable(createRows(other), { columns, steps: [['v1', 'v2']] })[1]![1]
    expect(ratioOf(3_000)).toBe('different loads: 1000 and 3000 deliveries/s')
    expect(ratioOf(1_100)).toBe('0.500 (too few starts for an interval)')
  })

  it('with too few starts have no interval', () => {
    const closeResults = [createResult('v1', [40, 44, 42]), createResult('v2', FAST, { starts: 1 })]
    expect(buildStepsTable(closeResults, table)[1]![1]).toBe('0.500 (too few starts for an interval)')
    const oneRound = [createResult('v1', [40]), createResult('v2', [20])]
    expect(buildStepsTable(oneRound, table)[1]![1]).toBe('0.500 (too few starts for an interval)')
  })
})

describe('tables in a terminal', () => {
  it('have at most 120 columns, and all cells', () => {
    for (const { table: one, results: all } of readResults(tables))
      for (const cells of buildTables(all, one)) {
        const parts = splitTable(cells)
        for (const line of parts.flatMap((part) => formatTable(part))) expect(line.length).toBeLessThanOrEqual(120)
        expect(cells.map(([name], i) => [name, ...parts.flatMap((part) => part[i]!.slice(1))])).toEqual(cells)
      }
  })
})

describe('results', () => {
  it('are read as written, in the order of the table', () => {
    const at = createTemporaryFolder()
    writeResults({ table, machine, results }, at)
    const read = JSON.parse(JSON.stringify(results))
    expect(readResults([table], at)).toMatchObject([{ table: { name: 'read' }, machine, results: read }])
  })

  it('replace only older results of the same table', () => {
    const at = createTemporaryFolder()
    const other = { ...table, name: 'other' }
    writeResults({ table, machine, results }, at)
    writeResults({ table: other, machine, results: [createResult('v1', [1])] }, at)
    writeResults({ table, machine, results: [createResult('v9', [1])] }, at)
    const names = readResults([table, other], at).map((one) => one.results.map(({ name }) => name))
    expect(names).toEqual([['v9'], ['v1']])
  })
})

describe('results of two processor models', () => {
  const other = { ...machine, processor: 'Other CPU' }
  const both = [...published, { table, machine: other, results: [createResult('v1', FAST), createResult('v2', SLOW)] }]

  it('are stored beside each other, and replaced one by one', () => {
    const at = createTemporaryFolder()
    for (const one of both) writeResults(one, at)
    writeResults({ ...both[1]!, results: [createResult('v1', [7])] }, at)
    const read = readResults([table], at).map(({ machine: { processor }, results: rows }) => [processor, rows.length])
    expect(read).toEqual(
      [machine, other]
        .toSorted((a, b) => (a.processor < b.processor ? -1 : 1))
        .map(({ processor }) => [processor, processor === 'Other CPU' ? 1 : 3]),
    )
  })

  it('give the range of a number, and all tables and processors', () => {
    const mark = (what: string) => `<!--= stats/read: ${what} -->7<!--/-->`
    expect(withProse(mark('v1 cpu'), both)).toContain('-->21.0 to 42.0<!--/-->')
    expect(withProse(mark('v2 / v1 cpu'), both)).toContain('-->0.50 to 2.00 (0.33 to 3.00)<!--/-->')
    expect(() => withProse(mark('v3 cpu'), both)).toThrow('stats/read: v3')
    const processors = '<!--= processors -->?<!--/-->'
    expect(withProse(processors, both)).toBe(
      `<!--= processors -->2 kinds of processors: ${machine.processor} and Other CPU<!--/-->`,
    )
    const section = buildSection(both)
    for (const { processor } of [machine, other]) expect(section).toContain(processor)
    expect(section.match(/v2 \/ v1/g)).toHaveLength(2)
    const page = renderReport(both)
    expect(page.match(/<details id="stats-read">/g)).toHaveLength(1)
    expect(page).toContain('Other CPU')
  })

  it('are named in the conclusions', () => {
    const ours = [createResult('bare GET', FAST), createResult('GET', SLOW)]
    const peerTable = { ...table, steps: [['GET', 'bare GET']] } as const
    const all = [machine, other].map((one) => ({ table: peerTable, machine: one, results: ours }))
    const [head, ...lines] = listRowsBehind(all)
    expect(head!.at(-1)).toBe('processor')
    expect(lines.map((cells) => cells.at(-1))).toEqual([`${machine.processor}\nOther CPU`])
    const command = '`pnpm bench compare "stats/read: GET / bare GET"`'
    expect(lines[0]![0]).toBe(`${command}\n${command}`)
    expect(listRowsBehind(all.slice(1))[0]).not.toContain('processor')
  })
})

describe('renamed tables and rows', () => {
  const renamed = { ...table, name: 'server-adapters' }

  it('are read by their present names, in their order', () => {
    const at = createTemporaryFolder()
    const recorded = [createResult('beside new prices', [2]), createResult('GET beside PUT, 1,000', [1])]
    writeResults({ table: { ...table, name: 'door' }, machine, results: recorded }, at)
    const [one] = readResults([renamed], at)
    expect(one!.table.name).toBe('server-adapters')
    expect(one!.results.map(({ name }) => name)).toEqual(['while prices are added', 'GET during PUT, 1,000'])
  })

  it('lose their former results when they are measured again', () => {
    const at = createTemporaryFolder()
    writeResults({ table: { ...table, name: 'door' }, machine, results: [createResult('v1', [1])] }, at)
    writeResults({ table: renamed, machine, results: [createResult('v2', [2])] }, at)
    expect(readResults([renamed], at)[0]!.results.map(({ name }) => name)).toEqual(['v2'])
  })
})

describe('tables', () => {
  it('mark a failed row, and omit columns without values', () => {
    expect(buildTable(results, table)).toEqual([
      ['', 'CPU us/request', 'requests/s', 'RSS MB', 'generator CPU'],
      ['v1', '42.0 (40.0-44.0)', '23,810 (22,727-25,000)', '99', '50 %'],
      ['v2', '21.0 (14.0-22.0)', '47,619 (45,455-71,429)', '99', '50 %'],
      ['v3', 'FAILED', '', '', ''],
    ])
  })

  it('have the number of connections in the name of a row', () => {
    const createNamed = (name: string, connections?: number): RowResult => {
      return { name, contender: '', starts: 1, rounds: [{ cpu: 1 }], connections }
    }
    const named = [createNamed('GET', 64), createNamed('PUT, 1 connection', 1), createNamed('scan')]
    expect(buildTable(named, table).map(([name]) => name)).toEqual([
      '',
      'GET, 64 connections',
      'PUT, 1 connection',
      'scan',
    ])
  })

  it('show the reason instead of a figure if rounds differ tenfold, and no cost below 0', () => {
    const columns = {
      p99: { head: 'p99', of: 'spread' },
      cost: { head: 'cost', of: 'spread' },
      more: { head: 'more', derive: () => -1 },
    } as const
    const rowOf = (slow: RowMetrics, cost = 1) => {
      const rounds: RowMetrics[] = [
        { p99: 100, reached: 1, lateness: 5, steal: 0, cost },
        { p99: 2_000, ...slow, cost: 2 },
      ]
      return buildTable([{ name: 'a', contender: '', starts: 2, rounds }], { columns })[1]!
    }
    const fine = { reached: 1, lateness: 5, steal: 0, waiting: 0 }
    expect(rowOf(fine)).toEqual(['a', '100 to 2,000: starts differ', '1.5 (1.0-2.0)', 'below what can be measured'])
    expect(rowOf({ ...fine, reached: 0.5 })[1]).toBe('100 to 2,000: slower than the pace')
    expect(rowOf({ ...fine, lateness: 1_000 })[1]).toBe('100 to 2,000: generator late')
    expect(rowOf({ ...fine, steal: 0.1 })[1]).toBe('100 to 2,000: host busy')
    expect(rowOf({ ...fine, waiting: 0.5 })[1]).toBe('100 to 2,000: no free processor')
    expect(rowOf(fine, -1)[2]).toBe('0.5 (below 0-2.0)')
    expect(rowOf(fine, -9)[2]).toBe('below what can be measured')
  })

  it('show words, maxima, values of the source, and values derived from other rows', () => {
    const columns = {
      pages: 'pages',
      most: { head: 'most', of: 'max' },
      'source: most': 'source: most',
      times: { head: 'of a', derive: (of: RowResult, all: readonly RowResult[]) => `${all.indexOf(of)}x` },
    } as const
    const rounds: RowMetrics[] = [{ pages: 'cached', most: 1 }, { most: 1234.5 }]
    const one = { name: 'a', contender: '', starts: 2, rounds, source: { most: 7 } }
    expect(buildTable([one, { ...one, name: 'b', source: {} }], { columns })).toEqual([
      ['', 'pages', 'most', 'source: most', 'of a'],
      ['a', 'cached', '1,235', '7.0', '0x'],
      ['b', 'cached', '1,235', '', '1x'],
    ])
  })

  it('go between the markers of a README, with machine, commit and day', () => {
    const before = 'a\n<!-- bench:stats/read -->\nold\n<!-- /bench:stats/read -->\nb'
    const text = replaceSection(before, 'stats/read', buildSection(published))
    expect(text).toContain('| v2 / v1 | 0.500 (')
    expect(text).toContain(`commit ${machine.commit}`)
    expect(text).toContain(machine.date.slice(0, 10))
    expect(text).not.toContain('old')
    expect(text.startsWith('a\n') && text.endsWith('\nb')).toBe(true)
    expect(
      toMarkdown([
        ['', 'x'],
        ['a', '1'],
      ]),
    ).toBe('|  | x |\n| --- | ---: |\n| a | 1 |')
  })
})

describe('tables of texts', () => {
  const texts = buildTexts(readResults(tables))
  const sections = [...texts].flatMap(([file, text]) =>
    [...text.matchAll(/<!-- (bench:[a-z]\S*) -->([^]*?)<!-- \/\1 -->/g)]
      .filter(([, name]) => name !== 'bench:flame')
      .map(([, name, section]) => ({ name: `${file} ${name}`, section: section! })),
  )

  it.each(sections)('name their machine, commit and day: $name', ({ section }) => {
    // Each block of tables ends with its machine, before the next heading or the end.
    for (const block of section.split(/^#{2,} .*$/m).filter((part) => part.includes('| ---')))
      expect(block).toMatch(/(?:processor.*commits? [0-9a-f]{7}.*\d{4}-\d\d-\d\d|Ours: not measured)/)
  })
})

describe('prose', () => {
  it('takes its numbers from the results', () => {
    const mark = (what: string) => `about <!--= stats/read: ${what} -->7<!--/--> us`
    expect(withProse(mark('v1 cpu'), published)).toBe('about <!--= stats/read: v1 cpu -->42.0<!--/--> us')
    expect(withProse(mark('v2 / v1 cpu'), published)).toContain('-->0.50 (0.33 to 0.51)<!--/-->')
    expect(() => withProse(mark('v9 cpu'), published)).toThrow('stats/read: v9')
  })

  it('and every table and the report match the results', () => {
    expect(listStaleFiles(tables)).toEqual([])
  })
})
