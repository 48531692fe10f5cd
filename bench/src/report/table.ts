import { SATURATED } from '../load/load.ts'
import type { RowResult } from '../row.ts'
import { ratioText, stepsOf } from '../ratios.ts'
import type { Scenario } from '../scenarios/scenario.ts'
import { spread } from '../statistics.ts'
import { tenth, whole } from './numbers.ts'

const HEAD = [
  '',
  'CPU us/request',
  'requests/s',
  'p50 us',
  'p90 us',
  'p99 us',
  'p99.9 us',
  'max us',
  'at requests/s',
  'RSS MB',
  'generator CPU',
  'source/s',
]

/** The cells of one row, the same in the terminal, the README and the report. */
export function cellsOf({ name, rounds, open, source, failure }: RowResult): string[] {
  // Why is said once, below the table.
  if (failure !== undefined || rounds.length === 0) return [name, 'FAILED', ...HEAD.slice(2).map(() => '')]
  const cpu = spread(rounds.map(({ cpuPerRequest }) => cpuPerRequest))
  const rate = spread(rounds.map(({ perSecond }) => perSecond))
  const client = Math.max(...rounds.map(({ clientCpu }) => clientCpu))
  const { latency } = open ?? rounds.at(-1)!
  return [
    name,
    `${tenth(cpu.median)} (${tenth(cpu.min)}-${tenth(cpu.max)})`,
    `${whole(rate.median)} (${whole(rate.min)}-${whole(rate.max)})`,
    ...[latency.p50, latency.p90, latency.p99, latency.p999, latency.max].map(whole),
    open ? whole(open.rate) : 'closed loop',
    whole(rounds.at(-1)!.memory),
    `${Math.round(client * 100)} %${client >= SATURATED ? ' (the limit)' : ''}`,
    source === undefined ? '' : whole(source),
  ]
}

export const tableOf = (results: readonly RowResult[]): string[][] => [HEAD, ...results.map(cellsOf)]

/** What each step of the scenario gained or lost; empty where it has none, or one round, which gives no interval. */
export function stepsTableOf(results: readonly RowResult[], { steps = [] }: Pick<Scenario, 'steps'>): string[][] {
  const certain = stepsOf(results, steps).filter(({ ratios }) => ratios.every(({ confidence }) => confidence > 0))
  const rows = certain.map(({ name, ratios }) => [name, ...ratios.map(ratioText)])
  return rows.length > 0 ? [['', 'CPU us/request', 'requests/s'], ...rows] : []
}

export function markdownOf([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head!), line(head!.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n')
}
