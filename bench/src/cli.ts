import { table } from '@influencer-stats/runtime/table'
import { HELP, parseBenchArguments, type BenchArguments } from './arguments.ts'
import { compareRows } from './compare.ts'
import { standInContender } from './contenders/service.ts'
import { generators } from './load/generators.ts'
import { describeMachine } from './machine.ts'
import { measureFleets } from './measure-fleets.ts'
import { measureTrials } from './measure-trials.ts'
import { measureRows } from './measure.ts'
import { PINS } from './processes.ts'
import { createProgress } from './progress.ts'
import { ratioText } from './ratios.ts'
import { measuredOf } from './report/measured.ts'
import { publish } from './report/publish.ts'
import type { Measured, Published } from './report/published.ts'
import type { Row } from './row.ts'
import { scenarios } from './scenarios/all.ts'
import type { AnyScenario, FleetScenario, Scenario, Backends, Table, TrialScenario } from './scenarios/scenario.ts'
import { nameOf, parseSpec, type Spec } from './spec.ts'

const USUAL_GENERATOR = 'autocannon'

const say = (text: string) => process.stdout.write(`${text}\n`)

async function generatorNamed(name: string) {
  if (!Object.hasOwn(generators, name))
    throw new Error(`no generator is called ${name}; there are ${Object.keys(generators).join(', ')}`)
  const generator = await generators[name as keyof typeof generators]()
  if (!(await generator.available())) throw new Error(`${name} is not installed here`)
  return generator
}

/** Runs with a stand-in for YouTube beside, on the generator's processor: its work is not the service's. */
async function withBackends<T>(work: (backends: Backends) => Promise<T>): Promise<T> {
  const standIn = await standInContender(PINS.client).start()
  try {
    return await work({ youtubeUri: standIn.url })
  } finally {
    await standIn.stop()
  }
}

/** The rows of a scenario that were asked for; those that no service answers for always stand beside them. */
function chosen(rows: readonly Row[], specs: readonly Spec[], backends: Backends, scenario: Scenario): Row[] {
  const named = specs.filter((spec) => spec.service === scenario.service && nameOf(spec) !== scenario.service)
  if (named.length === 0 || !scenario.row) return [...rows]
  const others = rows.filter((row) => !row.contender.name.startsWith(scenario.service))
  return [...named.map((spec) => ({ ...scenario.row!(spec, backends), name: nameOf(spec) })), ...others]
}

const withConnections = (row: Row, { connections }: BenchArguments): Row =>
  connections ? { ...row, load: { ...row.load, connections } } : row

/** Runs a table of requests. */
async function runRows(scenario: Scenario, specs: readonly Spec[], args: BenchArguments): Promise<Measured['results']> {
  const closed = await generatorNamed(args.generator ?? scenario.generator ?? USUAL_GENERATOR)
  const open = await generatorNamed('raw')
  return withBackends(async (backends) => {
    const rows = chosen(await scenario.rows(backends), specs, backends, scenario)
    const asked = rows.map((row) => withConnections(row, args))
    const progress = createProgress(process.stderr)
    const results = await measureRows(asked, { ...args, closed, open, onStep: progress.step })
    progress.end()
    return results
  })
}

/** Runs a table of fleets. */
async function runFleets(
  scenario: FleetScenario,
  specs: readonly Spec[],
  args: BenchArguments,
): Promise<Measured['results']> {
  const { service, once } = scenario
  const named = specs.filter((spec) => spec.service === service && nameOf(spec) !== service)
  const asked = named.length > 0 ? named : [{ service, variant: '', settings: {} }]
  const progress = createProgress(process.stderr)
  const rounds = once ? 1 : args.rounds
  const results = await measureFleets(scenario.fleets({ ...args, specs: asked }), { rounds, onStep: progress.step })
  progress.end()
  return results
}

/** Runs a table whose rows measure in their own way. */
async function runTrials(scenario: TrialScenario, args: BenchArguments): Promise<Measured['results']> {
  const progress = createProgress(process.stderr)
  const results = await measureTrials(scenario.trials(args), { onStep: progress.step })
  progress.end()
  return results
}

function runScenario(
  scenario: AnyScenario,
  specs: readonly Spec[],
  args: BenchArguments,
): Promise<Measured['results']> {
  if ('fleets' in scenario) return runFleets(scenario, specs, args)
  if ('trials' in scenario) return runTrials(scenario, args)
  return runRows(scenario, specs, args)
}

async function runScenarios(args: BenchArguments): Promise<boolean> {
  const specs = args.specs.map(parseSpec)
  const services = new Set(specs.map(({ service }) => service))
  const isWanted = ({ service, name, full }: Table) =>
    (args.table ? name === args.table : args.full || !full) && (services.size === 0 || services.has(service))
  const wanted = scenarios.filter(isWanted)
  if (wanted.length === 0) throw new Error(`nothing is measured of ${[...services].join(', ')}`)
  const machine = describeMachine()
  say(
    `${machine.processor}, ${machine.processors} processors, Node ${machine.node}, commit ${machine.commit}, load ${machine.load}`,
  )

  const published: Published[] = []
  for (const scenario of wanted) {
    const results = await runScenario(scenario, specs, args)
    const measured = measuredOf(scenario, results)
    say(`\n${scenario.title}`)
    for (const rows of measured.tables) say(['', ...table(rows)].join('\n'))
    published.push({ scenario, machine, ...measured })
  }
  const failed = published.flatMap(({ results }) => results).filter(({ failure }) => failure !== undefined)
  for (const { name, failure } of failed) process.stderr.write(`FAILED ${name}: ${failure}\n`)
  if (failed.length === 0 && args.publish) publish(published, scenarios)
  return failed.length === 0
}

async function runCompare(args: BenchArguments): Promise<boolean> {
  const [a, b] = args.specs.map(parseSpec) as [Spec, Spec]
  const scenario = scenarios.find((each): each is Scenario => each.service === a.service && 'row' in each)
  if (!scenario || b.service !== a.service) throw new Error(`${nameOf(a)} and ${nameOf(b)} cannot be compared`)
  const closed = await generatorNamed(args.generator ?? scenario.generator ?? USUAL_GENERATOR)
  const progress = createProgress(process.stderr)
  const ratios = await withBackends((backends) => {
    const [of, against] = [a, b].map((spec) => withConnections(scenario.row!(spec, backends), args))
    return compareRows(of!, against!, { ...args, closed, onStep: progress.step })
  })
  progress.end()
  for (const ratio of ratios) {
    const verdict = ratio.limited ? '' : ratio.differs ? ': a difference' : ': no difference'
    say(`${ratio.figure}: ${nameOf(a)} / ${nameOf(b)} = ${ratioText(ratio)}${verdict}`)
  }
  return true
}

try {
  const args = parseBenchArguments(process.argv.slice(2))
  if (args.help) say(HELP)
  else if (!(await (args.compare ? runCompare(args) : runScenarios(args)))) process.exitCode = 1
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
