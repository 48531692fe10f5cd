import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createRandom } from '../random.ts'
import { createMutations } from './mutators.ts'
import { AREAS, NAMED_MUTATIONS } from './named-mutations.ts'

// `pnpm test:mutations [--seed SEED] [--count 50] [--from 1] [--named] [--near] [path...]`: makes one change (mutation)
// at a time in a copy of the checkout, runs the tests that should then fail, and lists the mutations that no test
// detects. `--near` runs only the nearest tests. `--from` resumes an interrupted run with the same seed.

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '50' },
    from: { type: 'string', default: '1' },
    named: { type: 'boolean', default: false },
    near: { type: 'boolean', default: false },
  },
})
/** Timeouts of the nearest tests and of all tests of a service (ms). Tests that hang count as failed. */
const TEST_TIMEOUTS_MS = { near: 300_000, all: 900_000 }
const from = Number(values.from)
const seed = values.seed ?? String(randomInt(1_000_000))
const random = createRandom(seed)
const print = (line: string) => process.stdout.write(`${line}\n`)

/** A mutation to test. */
interface MutationCase {
  readonly name: string
  readonly file: string
  /** The whole file with the mutation. */
  readonly text: string
  /** Groups of tests. They run one after the other, until a test fails. */
  readonly stages: readonly (readonly string[])[]
}

const sources = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  .stdout.split('\n')
  .filter((file) => file !== '' && existsSync(join(ROOT, file)))
const readSource = (file: string) => (sources.includes(file) ? readFileSync(join(ROOT, file), 'utf8') : '')

const createNamedCases = (): MutationCase[] =>
  NAMED_MUTATIONS.map(({ name, file, from, to, tests }) => ({
    name,
    file,
    text: readSource(file).replace(from, to),
    stages: [tests],
  }))

/** Picks random mutations, equally many of each area. Otherwise areas with much code would dominate. */
function chooseCases(count: number): MutationCase[] {
  const pools = AREAS.map(({ files, near, tests }) => ({
    stages: values.near ? [near] : [near, tests],
    mutations: sources
      .filter((file) => files.test(file) && positionals.every((path) => file.startsWith(path)))
      .flatMap((file) => createMutations(file, readSource(file))),
  })).filter(({ mutations }) => mutations.length > 0)
  return Array.from({ length: pools.length > 0 ? count : 0 }, (_, i) => {
    const { mutations, stages } = pools[i % pools.length]!
    const { file, line, before, after, text } = mutations.splice(random.below(mutations.length), 1)[0]!
    return { name: `${file}:${line}  ${before}  =>  ${after}`, file, text, stages }
  })
}

/** Copies the checkout to a temporary folder and installs its packages. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'influencer-stats-mutants-'))
  for (const file of sources) cpSync(join(ROOT, file), join(copy, file))
  const install = [
    '-y',
    'pnpm@12.21.0',
    'install',
    '--frozen-lockfile',
    '--prefer-offline',
    '--ignore-scripts',
    '--silent',
  ]
  const { status } = spawnSync('npx', install, { cwd: copy, stdio: 'inherit' })
  if (status !== 0) throw new Error('the copy could not be installed')
  // Copies the compiled library `roaring`, because the install above does not run its build.
  const roaring = dirname(createRequire(join(ROOT, 'packages/prices/package.json')).resolve('roaring/package.json'))
  for (const folder of ['native', 'build']) {
    const built = join(roaring, folder)
    if (existsSync(built)) cpSync(built, join(copy, relative(ROOT, built)), { recursive: true })
  }
  return copy
}

/** Runs tests until one fails. @returns its name; undefined if none fails */
async function findFailing(copy: string, tests: readonly string[]): Promise<string | undefined> {
  const isNear = tests.every((test) => test.endsWith('.'))
  const vitest = join(copy, 'node_modules/.bin/vitest')
  const scenarios = tests.filter((test) => test.startsWith('chaos/'))
  const runs = [
    ['run', '--bail', '1', ...tests.filter((test) => !scenarios.includes(test))],
    ...(scenarios.length > 0 ? [['run', '--config', 'chaos/vitest.config.ts', ...scenarios]] : []),
  ]
  for (const args of runs) {
    const child = spawn(vitest, args, {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', PATH: `${dirname(vitest)}:${process.env.PATH}` },
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    let isHanging = false
    const timer = setTimeout(() => (isHanging = child.kill('SIGTERM')), TEST_TIMEOUTS_MS[isNear ? 'near' : 'all'])
    const [code] = await once(child, 'close')
    clearTimeout(timer)
    if (isHanging) return 'the tests hang'
    if (code !== 0) return /^ *FAIL +(.*)$/m.exec(output)?.[1] ?? 'a run that fails'
  }
  return undefined
}

/**
 * Runs tests until one fails. If this test passes when it is repeated, it failed by chance, as may happen on a busy
 * machine. All tests then run once more.
 * @returns name of the failed test; undefined if none fails
 */
async function findFailingTwice(copy: string, tests: readonly string[]): Promise<string | undefined> {
  const first = await findFailing(copy, tests)
  const file = /\S+\.test\.ts/.exec(first ?? '')?.[0]
  return file && !(await findFailing(copy, [file])) ? findFailing(copy, tests) : first
}

print(`mutations with seed ${seed}`)
const cases = [
  ...(positionals.length > 0 || from > 1 ? [] : createNamedCases()),
  ...(values.named ? [] : chooseCases(Number(values.count)).slice(from - 1)),
]
const copy = copyCheckout()
const survivors: string[] = []
try {
  // A test that fails without a mutation cannot detect one.
  for (const tests of new Set(cases.map(({ stages }) => stages.at(-1)!))) {
    const wrong = await findFailingTwice(copy, tests)
    if (wrong) throw new Error(`${tests.join(' ')} fails as it is: ${wrong}`)
  }
  for (const { name, file, text, stages } of cases) {
    writeFileSync(join(copy, file), text)
    let killer: string | undefined
    for (const tests of stages) killer ??= await findFailingTwice(copy, tests)
    cpSync(join(ROOT, file), join(copy, file))
    print(killer ? `killed    ${name}\n          by ${killer}` : `SURVIVED  ${name}`)
    if (!killer) survivors.push(name)
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
const killed = cases.length - survivors.length
print(`\n${killed} killed of ${cases.length} (${((100 * killed) / cases.length).toFixed()} %), seed ${seed}`)
for (const name of survivors) print(`SURVIVED  ${name}`)
