import { formatTable } from '@influencer-stats/runtime/text-table'
import type { BenchArguments } from '../arguments.ts'
import {
  assertQuietMachine,
  describeMachine,
  formatMachine,
  hasSameCode,
  watchSteal,
  type Machine,
} from '../machine.ts'
import { measureMachineCosts } from '../machine-costs.ts'
import { measure } from '../measure.ts'
import { createProgress, formatDuration } from '../progress.ts'
import { omitDetails } from '../report/columns.ts'
import { publish } from '../report/publish.ts'
import { readResults, type PublishedTable } from '../report/results.ts'
import { buildTables, splitTable } from '../report/table-cells.ts'
import type { RowResult } from '../row.ts'
import { toRowTitle, type BenchTable } from '../table.ts'
import { selectTables, tables } from '../tables/all.ts'
import { estimateGroup, planGroups, planGroupSteps, type TableGroup } from './run-plan.ts'

const print = (text: string) => process.stdout.write(`${text}\n`)

/** Returns the mean durations of the steps of published rows (s), by title. */
const readStepSeconds = (published: readonly PublishedTable[]): Map<string, number> =>
  new Map(
    published.flatMap(({ table, results }) =>
      results.flatMap(({ name, stepSeconds }) =>
        stepSeconds ? [[toRowTitle(table, name), stepSeconds] as const] : [],
      ),
    ),
  )

/** True if all rows of a table have results of this code on this processor model. */
function isMeasured(
  { rows, resultsOf }: TableGroup,
  table: BenchTable,
  published: readonly PublishedTable[],
  { processor }: Machine,
): boolean {
  const found = published.find((one) => one.table === table && one.machine.processor === processor)
  if (!found || !hasSameCode(table.service, found.machine.commit)) return false
  const names = new Set(found.results.filter(({ failure }) => failure === undefined).map(({ name }) => name))
  const planned = resultsOf(
    table,
    rows.map(({ name }): RowResult => ({ name, contender: '', rounds: [], starts: 0 })),
  )
  return planned.every(({ name }) => names.has(name))
}

/** Prints the planned tables with their estimated durations. */
function printPlan(groups: readonly TableGroup[], rounds: number, published: ReadonlyMap<string, number>): void {
  let total = 0
  for (const group of groups) {
    const seconds = estimateGroup(group, rounds, published)
    total += seconds
    const names = group.tables.map(({ service, name }) => `${service}/${name}`).join(', ')
    print(
      `${names}: ${group.rows.length} rows, ${planGroupSteps(group, rounds).length} rounds, ${formatDuration(seconds)}`,
    )
  }
  print(`about ${formatDuration(total)} in total`)
}

function printTable(table: BenchTable, results: readonly RowResult[], hasLatencies: boolean): void {
  print(`\n${table.title}`)
  const shown = hasLatencies ? table : { ...table, columns: omitDetails(table.columns) }
  for (const cells of buildTables(results, shown).flatMap((all) => splitTable(all)))
    print(['', ...formatTable(cells)].join('\n'))
}

/**
 * Measures the selected tables. Publishes each table when it is measured, so that a later failure does not lose it. A table
 * with a failed row is not published. A published table whose code has not changed since is not measured again.
 * @returns true if no row failed
 */
export async function runTables(args: BenchArguments, signal: AbortSignal): Promise<boolean> {
  const { rounds, minutes = Infinity } = args
  const planned = planGroups(selectTables(args), (table) =>
    table.rows(args.specs.filter(({ service, variant }) => service === table.service && variant !== '')),
  )
  const published = readResults(tables)
  const stepSeconds = readStepSeconds(published)
  if (args.estimate) return (printPlan(planned, rounds, stepSeconds), true)
  if (args.publish) await assertQuietMachine(print)
  const machine = { ...describeMachine(), ...(args.publish && { costs: await measureMachineCosts() }) }
  print(formatMachine(machine))
  const groups = planned.filter(
    (group) => !args.publish || args.again || !group.tables.every((one) => isMeasured(group, one, published, machine)),
  )
  if (groups.length < planned.length)
    print(
      `${planned.length - groups.length} of ${planned.length} tables or groups of tables are measured already (--again measures them once more)`,
    )
  const progress = createProgress(
    process.stderr,
    groups.flatMap((group) => planGroupSteps(group, rounds)),
    stepSeconds,
  )
  const began = performance.now()
  let failed = false
  for (const [i, group] of groups.entries()) {
    const left = minutes * 60 - (performance.now() - began) / 1000
    if (i > 0 && estimateGroup(group, rounds, stepSeconds) > left) {
      print(`\nno time left for ${group.tables.map(({ service, name }) => `${service}/${name}`).join(', ')}`)
      for (const { name } of group.rows) progress.skipRow(name)
      continue
    }
    const readSteal = watchSteal()
    const comparisons = args.generator === 'raw' ? group.comparisons : []
    const results = await measure(group.rows, { ...args, ...group, comparisons, signal, progress })
    progress.pause()
    for (const { name, failure } of results) if (failure) process.stderr.write(`FAILED ${name}: ${failure}\n`)
    const measuredOn = { ...machine, steal: readSteal() }
    for (const table of group.tables) {
      const own = group.resultsOf(table, results)
      printTable(table, own, args.latency)
      const hasFailure = own.some(({ failure }) => failure !== undefined)
      failed ||= hasFailure
      if (args.publish && !hasFailure) publish({ table, results: own, machine: measuredOn }, tables)
    }
  }
  return !failed
}
