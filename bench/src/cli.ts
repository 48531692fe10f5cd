import { formatTable } from '@influencer-stats/runtime/text-table'
import { HELP, parseBenchArguments, type BenchArguments } from './arguments.ts'
import { parseGuardOptions, runGuard } from './guard/run-guard.ts'
import { isInstalled } from './targets/program.ts'
import { stopBackgroundProcesses } from './targets/background-processes.ts'
import {
  assertQuietMachine,
  describeMachine,
  formatMachine,
  MAX_QUIET_LOAD,
  watchSteal,
  type Machine,
} from './machine.ts'
import { formatMachineCosts, measureMachineCosts } from './machine-costs.ts'
import { measure } from './measure.ts'
import { stopChildren } from './processes.ts'
import { createProgress } from './progress.ts'
import { computeRatios, formatRatio } from './ratios.ts'
import { runAtRate } from './rate/run-at-rate.ts'
import { publish } from './report/publish.ts'
import { readResults } from './report/results.ts'
import { buildTables } from './report/table-cells.ts'
import type { BenchRow } from './row.ts'
import { selectTables, tables } from './tables/all.ts'
import { findPair, type FoundRow } from './tables/find-row.ts'
import { formatConnections } from './tables/kv.ts'
import { getMaxRounds } from './table.ts'

/** Aborted when the user interrupts the run. */
const abortController = new AbortController()

/** Maximum load at which a comparison prints no warning (busy processes). */
const MAX_COMPARE_LOAD = 1

const print = (text: string) => process.stdout.write(`${text}\n`)

/** Measures the rows whose programs are installed. Shows the progress and failures on stderr. */
async function run(rows: readonly BenchRow[], args: BenchArguments, more: Partial<Parameters<typeof measure>[1]>) {
  const progress = createProgress(process.stderr)
  const results = await measure(
    rows.filter(({ target }) => isInstalled(target)),
    { ...args, ...more, signal: abortController.signal, onStep: progress.step },
  )
  progress.end()
  for (const { name, failure } of results) if (failure) process.stderr.write(`FAILED ${name}: ${failure}\n`)
  return { results, failed: results.some(({ failure }) => failure !== undefined) }
}

/**
 * Measures tables. Publishes each table when it is measured, so that a later failure does not lose it. A table with a
 * failed row is not published.
 * @returns true if no row failed
 */
async function runTables(args: BenchArguments): Promise<boolean> {
  const chosen = selectTables(args)
  if (args.publish) await assertQuietMachine(print)
  const machine = { ...describeMachine(), ...(args.publish && { costs: await measureMachineCosts() }) }
  print(formatMachine(machine))
  let anyFailed = false
  for (const table of chosen) {
    const stolen = watchSteal()
    const specs = args.specs.filter(({ service, variant }) => service === table.service && variant !== '')
    const rounds = Math.min(args.rounds, getMaxRounds(table))
    const { results, failed } = await run(table.rows(specs), args, { rounds, together: table.together })
    print(`\n${table.title}`)
    for (const cells of buildTables(results, table)) print(['', ...formatTable(cells)].join('\n'))
    anyFailed ||= failed
    if (args.publish && !failed) publish({ table, results, machine: { ...machine, steal: stolen() } }, tables)
  }
  return !anyFailed
}

/** Compares two rows. @returns true if no row failed */
async function runCompare(args: BenchArguments): Promise<boolean> {
  const pair = findPair(args.compared)
  const missing = pair.find(({ row }) => !isInstalled(row.target))
  if (missing) throw new Error(`${missing.row.target.name} is not installed here`)
  const [a, b] = pair
  const machine = describeMachine()
  print(`${formatMachine(machine)}; ${formatLoad(a, args)}`)
  if (machine.load > MAX_COMPARE_LOAD)
    print(`The machine is busy (load ${machine.load}): intervals are wider, and both rows may wait for other programs.`)
  const { results, failed } = await run([a.row, b.row], args, { rounds: args.pairs, latencies: false })
  if (failed) return false
  for (const ratio of computeRatios(results[0]!, results[1]!, a.table.columns)) {
    const verdict = ratio.limited ? '' : `: ${ratio.finding}`
    print(`${ratio.heading}: ${a.row.name} / ${b.row.name} = ${formatRatio(ratio)}${verdict}`)
  }
  return true
}

/** Formats the load of a comparison. */
function formatLoad({ row }: FoundRow, { connections, duration, pairs }: BenchArguments): string {
  const used = connections ?? row.requests?.connections
  return [...(used === undefined ? [] : [formatConnections(used)]), `${pairs} pairs of ${duration} s`].join(', ')
}

/** Prints the costs of this machine, and those of the machines of the published results. */
async function runDoctor(): Promise<void> {
  const own = { ...describeMachine(), costs: await measureMachineCosts() }
  const published = readResults(tables).map(({ machine }) => machine)
  const byProcessor = new Map(published.filter(({ costs }) => costs).map((one) => [one.processor, one]))
  const toLine = (title: string, { processor, processors, costs }: Machine) =>
    `${title}: ${[processor, `${processors} processors`, ...formatMachineCosts(costs!)].join(', ')}`
  print(toLine('this machine', own))
  for (const machine of byProcessor.values()) print(toLine('published', machine))
  if (own.load > MAX_QUIET_LOAD) print(`The machine is busy (load ${own.load}), so its costs are too high.`)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    abortController.abort(new Error(`ended by ${signal}`))
    stopChildren()
  })
}
async function main(argv: readonly string[]): Promise<boolean> {
  if (argv[0] === 'guard') return runGuard(parseGuardOptions(argv.slice(1)), print, abortController.signal)
  if (argv[0] === 'doctor' && argv.length === 1) return runDoctor().then(() => true)
  const args = parseBenchArguments(argv)
  if (args.help) print(HELP)
  else if (args.atRate) return runAtRate(args.atRate, print)
  else return args.compare ? runCompare(args) : runTables(args)
  return true
}

try {
  if (!(await main(process.argv.slice(2)))) process.exitCode = 1
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await stopBackgroundProcesses()
}
