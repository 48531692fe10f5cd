import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createTemporaryFolder } from '@influencer-stats/runtime/testing/temporary-folder'
import {
  createPythonEnvironment,
  PREPARATION_TIMEOUT_MS,
  runProgram,
} from '@influencer-stats/runtime/testing/third-party-client'
import { beforeAll, expect, test } from 'vitest'

// The wheel in an empty environment, as its users install it. Needs python3 with venv, and PyPI.

const CLIENT_FOLDER = fileURLToPath(new URL('..', import.meta.url))
const wheels = createTemporaryFolder()
let python: string

const runPython = (...args: string[]) => runProgram(python, args, CLIENT_FOLDER)
const install = (...args: string[]) => runPython('-m', 'pip', 'install', '--quiet', ...args)

beforeAll(async () => {
  python = await createPythonEnvironment([])
  const source = createTemporaryFolder()
  for (const name of ['pyproject.toml', 'README.md', 'src']) {
    cpSync(join(CLIENT_FOLDER, name), join(source, name), { recursive: true })
  }
  await runPython('-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', wheels, source)
}, PREPARATION_TIMEOUT_MS)

const getWheel = () =>
  join(
    wheels,
    readdirSync(wheels).find((name) => name.endsWith('.whl'))!,
  )

test('the wheel has types, and nothing but the package', { timeout: PREPARATION_TIMEOUT_MS }, async () => {
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
  { timeout: PREPARATION_TIMEOUT_MS },
  async () => {
    await install(`${getWheel()}[chart,test,generate]`, 'trio')
    await runPython('generate.py', '--check')
    await runPython('-m', 'mypy', '--cache-dir', join(wheels, 'mypy'))
    const report = await runPython('-m', 'pytest', '-q', '-p', 'no:cacheprovider')
    expect(report).toMatch(/\d+ passed in/)
  },
)
