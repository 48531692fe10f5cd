import { describe, expect, it } from 'vitest'
import type { FleetRow } from '../src/fleet-row.ts'
import { measureFleets } from '../src/measure-fleets.ts'
import { fleetFiguresOf, fleetTableOf } from '../src/report/fleet-table.ts'
import { reportHtml } from '../src/report/html.ts'
import { replaceSection } from '../src/report/publish.ts'
import { markdownOf } from '../src/report/table.ts'
import { fleetScenarios } from '../src/scenarios/sse.ts'
import { SMALL, startBroadcaster } from './support/broadcast-server.ts'

const rowOn = (manner: string): FleetRow => ({
  name: manner,
  contender: { name: `known/${manner}`, start: () => startBroadcaster(manner) },
  plan: { ...SMALL, sending: { values: 20, interval: 5 } },
  source: { memory: 36, rejected: 7 },
})

const asked = { specs: [{ service: 'sse', variant: '', settings: {} }], duration: 1, warmUp: 1 }
const named = (name: string) => fleetScenarios.find((scenario) => scenario.name === name)!

describe('fleets of a table', () => {
  it('are measured round by round; one with a fault is no result', async () => {
    const steps: string[] = []
    const results = await measureFleets(['plain', 'dropping', 'doubling'].map(rowOn), {
      rounds: 2,
      onStep: (what, step, steps_) => steps.push(`${step}/${steps_} ${what}`),
    })
    expect(steps).toHaveLength(6)
    expect(steps.at(-1)).toBe('6/6 plain: round 2 of 2')
    const [plain, dropping, doubling] = results
    expect(plain).toMatchObject({ name: 'plain', contender: 'known/plain', failure: undefined })
    expect(plain!.rounds).toHaveLength(2)
    expect(dropping!.failure).toBe('40 events were lost')
    expect(doubling!.failure).toBe('40 events came twice')

    for (const { columns } of fleetScenarios) {
      const [head, ...rows] = fleetTableOf(results, columns)
      expect(head).toHaveLength(columns.length + 1)
      expect(rows.map((row) => row.length)).toEqual([head!.length, head!.length, head!.length])
      expect(rows[1]!.slice(0, 3)).toEqual(['dropping', 'FAILED', ''])
      expect(rows[0]!.slice(1).filter((cell) => /NaN|undefined/.test(cell))).toEqual([])
    }
    const columns = ['received', 'faults', 'rejected', 'sourceMemory', 'sourceRejected', 'sourceQuery'] as const
    const table = fleetTableOf(results.slice(0, 1), columns)
    expect(table[1]).toEqual(['plain', '20.0', '0, 0, 0', '0 (0-0)', '36', '7', ''])

    // As it is published: in a README between its markers, and in the report with its plots.
    const text = 'a\n<!-- bench:sse/x -->\nold\n<!-- /bench:sse/x -->\nb\n'
    expect(replaceSection(text, 'sse/x', markdownOf(table))).toContain('| plain | 20.0 | 0, 0, 0 |')
    const figures = fleetFiguresOf(results, ['deliveries', 'grown', 'received'])
    expect(figures.map(({ title }) => title.split(' ')[0])).toEqual(['Deliveries', 'Memory'])
    expect(figures[1]!.svg).toContain('the source: 36')
    const scenario = { ...named('connections'), title: 'Fleets' }
    const machine = {
      processor: '',
      processors: 2,
      memoryGiB: 1,
      platform: '',
      node: '',
      commit: '',
      load: 0,
      date: '',
    }
    const page = reportHtml([{ scenario, machine, results, tables: [table], figures }])
    expect(page).toContain('<td>20.0</td>')
    expect(page).toContain('<svg')
  })

  it("hold the source's two tables whole", () => {
    const [connections, values] = [named('connections').fleets(asked), named('values').fleets(asked)]
    expect([connections.length, values.length]).toEqual([9, 17])
    const sum = (rows: readonly FleetRow[], valueOf: (row: FleetRow) => number) =>
      rows.reduce((total, row) => total + valueOf(row), 0)
    expect(sum(connections, ({ plan }) => plan.streams)).toBe(37_500)
    expect(sum(connections, ({ source }) => source!.memory!)).toBe(1798)
    expect(sum(values, ({ source }) => source!.rejected!)).toBe(8154)
    expect(sum(values, ({ plan }) => ('values' in plan.sending ? plan.sending.values : NaN))).toBe(32_350)
  })

  it('are of each variant that was asked for, the peers once', () => {
    const specs = ['v1', 'v4'].map((variant) => ({ service: 'sse', variant, settings: {} }))
    const names = named('saturation')
      .fleets({ ...asked, specs })
      .map(({ name }) => name)
    expect(names).toEqual(['v1', 'v4', 'better-sse', '@fastify/sse'])
    expect(named('values').fleets({ ...asked, specs })).toHaveLength(34)
  })
})
