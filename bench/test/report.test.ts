import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { describeMachine } from '../src/machine.ts'
import { stepsOf } from '../src/ratios.ts'
import { replaceSection } from '../src/report/publish.ts'
import { reportHtml } from '../src/report/html.ts'
import { measuredOf } from '../src/report/measured.ts'
import { readResults, writeResults } from '../src/report/results.ts'
import { markdownOf, stepsTableOf, tableOf } from '../src/report/table.ts'
import type { Round, RowResult } from '../src/row.ts'
import type { Scenario } from '../src/scenarios/scenario.ts'

const latency = { p50: 10, p75: 20, p90: 30, p99: 40, p999: 50, max: 60 }
const round = (cpuPerRequest: number): Round => ({
  perSecond: 1e6 / cpuPerRequest,
  cpuPerRequest,
  latency,
  memory: 99,
  clientCpu: 0.5,
})
const row = (name: string, cpu: readonly number[], failure?: string): RowResult => ({
  name,
  contender: `stats/${name}`,
  connections: 16,
  generator: 'raw',
  rounds: cpu.map(round),
  failure,
})

const scenario: Scenario = {
  service: 'stats',
  name: 'read',
  title: 'Reads',
  full: false,
  steps: [
    ['v2', 'v1'],
    ['v3', 'v2'],
  ],
  rows: async () => [],
}
const results = [row('v1', [40, 44, 42]), row('v2', [20, 22, 14]), row('v3', [], 'round 1 of 3: 2 replies were wrong')]
const folders: string[] = []
const folder = () => folders[folders.push(mkdtempSync(join(tmpdir(), 'influencer-stats-'))) - 1]!

afterEach(() => {
  for (const each of folders.splice(0)) rmSync(each, { recursive: true })
})

describe('steps', () => {
  it('compare the rounds that were next to each other, and leave out what failed', () => {
    const [step, ...more] = stepsOf(results, scenario.steps!)
    expect(more).toEqual([])
    expect(step!.name).toBe('v2 / v1')
    expect(step!.ratios.map(({ figure, median }) => [figure, median])).toEqual([
      ['CPU per request', 0.5],
      ['requests/s', 2],
    ])
    expect(step!.ratios[0]).toMatchObject({ low: 14 / 42, high: 0.5 })
  })

  it.each([0, 1])('claim no requests/s where the generator limited a side, and compare the CPU', (side) => {
    const limited = results.slice(0, 2).map((one, i) => {
      return i === side ? { ...one, rounds: one.rounds.map((each) => ({ ...each, clientCpu: 0.9 })) } : one
    })
    const [, [, cpu, rate] = []] = stepsTableOf(limited, scenario)
    expect(cpu).toContain('0.500 (')
    expect(rate).toBe('the generator was the limit: compare CPU')
    expect(stepsOf(limited, scenario.steps!)[0]!.ratios.map(({ differs }) => differs)).toEqual([true, false])
  })
})

describe('results', () => {
  it('are read as they were written, in the order of the table', () => {
    const at = folder()
    const machine = describeMachine()
    writeResults({ scenario, machine, results }, at)
    expect(readResults([scenario], at)).toMatchObject([
      { scenario: { name: 'read' }, machine, results: JSON.parse(JSON.stringify(results)) },
    ])
  })

  it('take the place of older ones of the same scenario, and of no other', () => {
    const at = folder()
    const machine = describeMachine()
    const other = { ...scenario, name: 'other' }
    writeResults({ scenario, machine, results }, at)
    writeResults({ scenario: other, machine, results: [row('v1', [1])] }, at)
    writeResults({ scenario, machine, results: [row('v9', [1])] }, at)
    const names = readResults([scenario, other], at).map((one) => one.results.map(({ name }) => name))
    expect(names).toEqual([['v9'], ['v1']])
  })
})

describe('tables', () => {
  it('show a row that failed as such', () => {
    expect(tableOf(results).map(([name, figure]) => `${name} ${figure}`)).toEqual([
      ' CPU us/request',
      'v1 42.0 (40.0-44.0)',
      'v2 20.0 (14.0-22.0)',
      'v3 FAILED',
    ])
  })

  it('go between the markers of a README', () => {
    const section = markdownOf(stepsTableOf(results, scenario))
    const text = replaceSection(
      'a\n<!-- bench:stats/read -->\nold\n<!-- /bench:stats/read -->\nb',
      'stats/read',
      section,
    )
    expect(text).toContain('| v2 / v1 | 0.500 (')
    expect(text).not.toContain('old')
    expect(text.startsWith('a\n') && text.endsWith('\nb')).toBe(true)
  })

  it('escape what they show in the report', () => {
    const page = reportHtml([
      { scenario: { ...scenario, title: '<b>' }, machine: describeMachine(), ...measuredOf(scenario, results) },
    ])
    expect(page).toContain('&lt;b>')
    expect(page).not.toContain('<b>')
  })
})
