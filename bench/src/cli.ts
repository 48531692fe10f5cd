import { HELP, parseBenchArguments } from './arguments.ts'
import { parseGuardOptions, runGuard } from './guard/run-guard.ts'
import { stopBackgroundProcesses } from './targets/background-processes.ts'
import { describeMachine, MAX_QUIET_LOAD, type Machine } from './machine.ts'
import { formatMachineCosts, measureMachineCosts } from './machine-costs.ts'
import { handleInterruption, reportFailure } from './run/interruption.ts'
import { runCompare } from './run/compare.ts'
import { runTables } from './run/run-tables.ts'
import { runAtRate } from './rate/run-at-rate.ts'
import { writeTexts } from './report/publish.ts'
import { readResults } from './report/results.ts'
import { tables } from './tables/all.ts'
import { assertKnownSpecs } from './tables/assert-known-specs.ts'

/** Aborted when the user interrupts the run. */
const interruption = handleInterruption()

const print = (text: string) => process.stdout.write(`${text}\n`)

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
  return args.compare ? runCompare(args, print, interruption) : runTables(args, interruption)
}

try {
  if (!(await main(process.argv.slice(2)))) process.exitCode = 1
} catch (error) {
  reportFailure(error, interruption)
} finally {
  await stopBackgroundProcesses()
}
