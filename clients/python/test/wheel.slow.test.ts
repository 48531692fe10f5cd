import { execFile } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import { beforeAll, expect, test } from 'vitest'

// The wheel in an empty environment, as its users install it. Needs python3 with venv, and PyPI.

const CLIENT_FOLDER = fileURLToPath(new URL('..', import.meta.url))
const TIMEOUT_MS = 600_000

const environment = join(createTemporaryFolder(), 'venv')
const wheels = createTemporaryFolder()

/** Runs a program. @throws Error with its output if it fails */
async function run(program: string, ...args: string[]): Promise<string> {
  const options = { cwd: CLIENT_FOLDER, env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } }
  try {
    return (await promisify(execFile)(program, args, options)).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error })
  }
}

const runPython = (...args: string[]) => run(join(environment, 'bin', 'python'), ...args)
const install = (...args: string[]) => runPython('-m', 'pip', 'install', '--quiet', ...args)

beforeAll(async () => {
  const version = 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)'
  await run('python3', '-c', version).catch((error: unknown) => {
    throw new Error('python3 with venv (3.11 or later) is needed', { cause: error })
  })
  await run('python3', '-m', 'venv', environment)
  const source = createTemporaryFolder()
  for (const name of ['pyproject.toml', 'README.md', 'src']) {
    cpSync(join(CLIENT_FOLDER, name), join(source, name), { recursive: true })
  }
  await runPython('-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', wheels, source)
}, TIMEOUT_MS)

const getWheel = () =>
  join(
    wheels,
    readdirSync(wheels).find((name) => name.endsWith('.whl'))!,
  )

test('the wheel has types, and nothing but the package', { timeout: TIMEOUT_MS }, async () => {
  const lines = (await runPython('-m', 'zipfile', '-l', getWheel())).split('\n').slice(1, -1)
  const names = lines.map((line) => line.split(' ')[0]!)
  expect(names).toContain('influencer_stats/py.typed')
  expect(names.filter((name) => !/^influencer_stats(?:_client-[\d.]+\.dist-info)?\//.test(name))).toEqual([])

  // A newcomer installs nothing else.
  await install(getWheel())
  await runPython('-c', 'import influencer_stats')
})

test(
  'generated files are up to date, types are correct, tests and examples pass',
  { timeout: TIMEOUT_MS },
  async () => {
    await install(`${getWheel()}[chart,test,generate]`, 'trio')
    await runPython('generate.py', '--check')
    await runPython('-m', 'mypy', '--cache-dir', join(wheels, 'mypy'))
    const report = await runPython('-m', 'pytest', '-q', '-p', 'no:cacheprovider')
    expect(report).toMatch(/\d+ passed in/)
  },
)
