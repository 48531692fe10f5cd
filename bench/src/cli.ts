import { HELP, parseBenchArguments, type BenchArguments } from './arguments.ts'
import { parseGuardOptions, runGuard } from './guard/run-guard.ts'
import { isInstalled } from './targets/program.ts'
import { stopBackgroundProcesses } from './targets/background-processes.ts'
import { describeMachine, formatMachine, MAX_QUIET_LOAD, type Machine } from './machine.ts'
import { formatMachineCosts, measureMachineCosts } from './machine-costs.ts'
import { measure, planSteps, type MeasureOptions } from './measure.ts'
import { handleInterruption, reportFailure } from './run/interruption.ts'
import { createProgress } from './progress.ts'
import { computeRatios, formatRatio } from './ratios.ts'
import { runTables } from './run/run-tables.ts'
import { canLoadInTurn } from './rounds/paired-round.ts'
import { runAtRate } from './rate/run-at-rate.ts'
import { writeTexts } from './report/publish.ts'
import { readResults } from './report/results.ts'
import type { BenchRow } from './row.ts'
import { hasPairs } from './table.ts'
import { tables } from './tables/all.ts'
import { assertKnownSpecs } from './tables/assert-known-specs.ts'
import { findPair, type FoundRow } from './tables/find-row.ts'
import { formatConnections } from './tables/kv.ts'

/** Aborted when the user interrupts the run. */
const interruption = handleInterruption()

/** Maximum load at which a comparison prints no warning (busy processes). */
const MAX_COMPARE_LOAD = 1

const print = (text: string) => process.stdout.write(`${text}\n`)

/** Measures rows. Shows failures on stderr. */
async function run(rows: readonly BenchRow[], args: BenchArguments, more: Partial<MeasureOptions>) {
  const results = await measure(rows, { ...args, ...more, signal: interruption })
  for (const { name, failure } of results) if (failure) process.stderr.write(`FAILED ${name}: ${failure}\n`)
  return { results, failed: results.some(({ failure }) => failure !== undefined) }
}

/** Compares two rows. @returns true if no row failed */
async function runCompare(args: BenchArguments): Promise<boolean> {
  const pair = findPair(args.compared)
  await assertKnownSpecs(pair.flatMap(({ row }) => row.target.service?.spec ?? []))
  const missing = pair.find(({ row }) => !isInstalled(row.target))
  if (missing) throw new Error(`${missing.row.target.name} is not installed here`)
  const [a, b] = pair
  const machine = describeMachine()
  const inTurn = hasPairs(a.table) && args.generator === 'raw' && canLoadInTurn([a.row, b.row])
  print(`${formatMachine(machine)}; ${formatLoad(a, args)}${inTurn ? ', loaded in turn' : ''}`)
  if (machine.load > MAX_COMPARE_LOAD)
    print(`The machine is busy (load ${machine.load}): intervals are wider, and both rows may wait for other programs.`)
  const rows = inTurn ? pair.map(({ row }) => ({ ...row, maxRounds: 0 })) : pair.map(({ row }) => row)
  const comparisons = inTurn ? [[a.row.name, b.row.name] as const] : []
  const measured = { rounds: args.pairs, latencies: false, comparisons }
  const progress = createProgress(process.stderr, planSteps(rows, measured))
  const { results, failed } = await run(rows, args, { ...measured, progress })
  progress.pause()
  if (failed) return false
  for (const ratio of computeRatios(results[0]!, results[1]!, a.table.columns)) {
    const verdict = ratio.limited ? '' : `: ${ratio.verdict}`
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

async function main(argv: readonly string[]): Promise<boolean> {
  if (argv[0] === 'guard') return runGuard(parseGuardOptions(argv.slice(1)), print, interruption)
  if (argv[0] === 'doctor' && argv.length === 1) return runDoctor().then(() => true)
  if (argv[0] === 'texts' && argv.length === 1) return (writeTexts(tables), true)
  const args = parseBenchArguments(argv)
  if (args.help) return (print(HELP), true)
  await assertKnownSpecs([...args.specs, ...(args.atRate ? [args.atRate.spec] : [])])
  if (args.atRate) return runAtRate(args.atRate, print)
  return args.compare ? runCompare(args) : runTables(args, interruption)
}

try {
  if (!(await main(process.argv.slice(2)))) process.exitCode = 1
} catch (error) {
  reportFailure(error, interruption)
} finally {
  await stopBackgroundProcesses()
}
