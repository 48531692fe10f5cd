import { describeMachine } from '../../src/machine.ts'
import { REQUEST_COLUMNS } from '../../src/rounds/request-round.ts'
import type { RowResult } from '../../src/row.ts'
import type { BenchTable } from '../../src/table.ts'

export const createResult = (name: string, cpu: readonly number[], more: Partial<RowResult> = {}): RowResult => ({
  name,
  contender: `stats/${name}`,
  starts: cpu.length,
  rounds: cpu.map((each) => ({ cpu: each, perSecond: 1e6 / each, generator: 0.5, memory: 99 })),
  ...more,
})

export const table: BenchTable = {
  service: 'stats',
  name: 'read',
  title: 'Reads',
  when: 'always',
  columns: REQUEST_COLUMNS,
  steps: [
    ['v2', 'v1'],
    ['v3', 'v2'],
  ],
  rows: () => [],
}
export const [SLOW, FAST] = [
  [40, 44, 42, 41, 43, 42],
  [20, 22, 14, 21, 22, 21],
]
export const results = [
  createResult('v1', SLOW),
  createResult('v2', FAST),
  createResult('v3', [], { failure: '2 replies were wrong' }),
]
export const machine = describeMachine()
export const published = [{ table, machine, results }]
