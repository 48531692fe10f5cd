import { table as cellsOf } from '@influencer-stats/runtime/table'
import { HELP, parseBenchArguments, type BenchArguments } from './arguments.ts'
import { isHere } from './contenders/program.ts'
import { stopBeside } from './contenders/beside.ts'
import { describeMachine, machineText, mustBeFit, watchSteal } from './machine.ts'
import { measure } from './measure.ts'
import { endChildren } from './processes.ts'
import { createProgress } from './progress.ts'
import { ratiosOf, ratioText } from './ratios.ts'
import { runAtRate } from './rate/run.ts'
import { publish } from './report/publish.ts'
import { tablesOf } from './report/table.ts'
import type { Row } from './row.ts'
import { rowOf, tables } from './tables/all.ts'
import { mostRounds } from './tables/table.ts'
import { wantedTables } from './tables/wanted.ts'

/** Aborted when somebody ends this early. */
const ending = new AbortController()

const say = (text: string) => process.stdout.write(`${text}\n`)

/** Measures rows, shows how far it is, and tells on stderr what failed. */
async function run(rows: readonly Row[], args: BenchArguments, more: Partial<Parameters<typeof measure>[1]>) {
  const progress = createProgress(process.stderr)
  const results = await measure(
    rows.filter(({ contender }) => isHere(contender)),
    { ...args, ...more, signal: ending.signal, onStep: progress.step },
  )
  progress.end()
  for (const { name, failure } of results) if (failure) process.stderr.write(`FAILED ${name}: ${failure}\n`)
  return { results, failed: results.some(({ failure }) => failure !== undefined) }
}

/** A table that was measured is published at once, so that a later one takes nothing with it: unless a row of it failed. */
async function runTables(args: BenchArguments): Promise<boolean> {
  const chosen = wantedTables(args)
  if (args.publish) await mustBeFit(say)
  const machine = describeMachine()
  say(machineText(machine))
  let anyFailed = false
  for (const table of chosen) {
    const stolen = watchSteal()
    const specs = args.specs.filter(({ service, variant }) => service === table.service && variant !== '')
    const rounds = Math.min(args.rounds, mostRounds(table))
    const { results, failed } = await run(table.rows(specs), args, { rounds, together: table.together })
    say(`\n${table.title}`)
    for (const cells of tablesOf(results, table)) say(['', ...cellsOf(cells)].join('\n'))
    anyFailed ||= failed
    if (args.publish && !failed) publish({ table, results, machine: { ...machine, steal: stolen() } }, tables)
  }
  return !anyFailed
}

async function runCompare(args: BenchArguments): Promise<boolean> {
  const [a, b] = args.specs.map(rowOf)
  const missing = [a!, b!].find(({ row }) => !isHere(row.contender))
  if (missing) throw new Error(`${missing.row.contender.name} is not installed here`)
  const { results, failed } = await run([a!.row, b!.row], args, { rounds: args.pairs, latencies: false })
  if (failed) return false
  for (const ratio of ratiosOf(results[0]!, results[1]!, a!.table.columns)) {
    const verdict = ratio.limited ? '' : ratio.differs ? ': a difference' : ': no difference'
    say(`${ratio.figure}: ${a!.row.name} / ${b!.row.name} = ${ratioText(ratio)}${verdict}`)
  }
  return true
}

function runOf(args: BenchArguments): Promise<boolean> {
  if (args.atRate) return runAtRate(args.atRate, say)
  return args.compare ? runCompare(args) : runTables(args)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    ending.abort(new Error(`ended by ${signal}`))
    endChildren()
  })
}
try {
  const args = parseBenchArguments(process.argv.slice(2))
  if (args.help) say(HELP)
  else if (!(await runOf(args))) process.exitCode = 1
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await stopBeside()
}
