import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './commands.ts'

const execute = promisify(execFile)
const CACHE_FOLDER = join(ROOT, 'node_modules/.cache/tools')

/** True if Go and Python can install the tools. */
export const hasGoAndPython = ['go version', 'python3 -m venv --help'].every((command) => {
  const [program, ...args] = command.split(' ')
  return spawnSync(program!, args).status === 0
})

/** Installs the program of a Go module once. @returns its path */
export async function installGoProgram(module: string): Promise<string> {
  const folder = join(CACHE_FOLDER, module.replaceAll(/[^\w.]+/g, '-'))
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).length === 0)
    await execute('go', ['install', module], { env: { ...process.env, GOBIN: folder } })
  return join(folder, readdirSync(folder)[0]!)
}

/** Installs a Python package once. @returns the folder of its environment */
export async function installPythonPackage(requirement: string): Promise<string> {
  const folder = join(CACHE_FOLDER, requirement.replaceAll(/[^\w.]+/g, '-'))
  if (!existsSync(join(folder, 'installed'))) {
    await execute('python3', ['-m', 'venv', folder])
    await execute(join(folder, 'bin/pip'), ['install', '--quiet', requirement])
    mkdirSync(join(folder, 'installed'))
  }
  return folder
}
