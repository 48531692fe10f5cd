import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { hasExited } from '../../src/async/has-exited.ts'
import { LENIENT_TIMEOUTS } from '../../src/supervisor/embed.ts'
import { isAlive, waitUntil } from './wait-until.ts'

const FIXTURE_SCRIPT = fileURLToPath(new URL('../fixtures/start.ts', import.meta.url))
const ROW_PATTERN = /^(\w+) +(https?:\S+) +(\d+) +(\d+)$/gm

/** A row of the ready table. */
export interface ReadyRow {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly threads: number
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A supervisor with the services of the fixtures, started like `pnpm start`. */
export interface SpawnedStart {
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
  readonly exit: Promise<ProcessExit>
  /** Waits for the ready table. @returns its rows by service */
  waitUntilReady(): Promise<Record<string, ReadyRow>>
  /** Pids of the running service processes. */
  listChildren(): number[]
  kill(signal: NodeJS.Signals): void
  /** Closes the reading end of its output. */
  closeOutput(): void
  /** Stops reading its output, so that its pipes fill up. */
  pauseOutput(): void
  /** Sends a signal and waits for the exit. */
  stop(signal?: NodeJS.Signals): Promise<ProcessExit>
}

export interface SpawnOptions {
  /** File descriptor for its output, instead of a pipe. */
  readonly output?: number
  /** Maximum file size (KiB). A longer write fails, as on a full disk. */
  readonly fileLimit?: number
  /** Start script, instead of that of the fixtures. */
  readonly script?: string
  /** Command that starts the command in its arguments. */
  readonly launcher?: readonly string[]
}

/** The script of `pnpm start`. */
export const START_SCRIPT = fileURLToPath(new URL('../../../../scripts/start.mjs', import.meta.url))

const LENIENT_FLAGS = Object.entries(LENIENT_TIMEOUTS).flatMap(([name, value]) => [`--${name}`, String(value)])

/**
 * Starts a supervisor in a separate process, with the lenient timeouts of embedded services unless `args` set them. All
 * its processes end with the test.
 */
export function spawnStart(
  args: readonly string[],
  env: Record<string, string> = {},
  { output, fileLimit, script = FIXTURE_SCRIPT, launcher = [] }: SpawnOptions = {},
): SpawnedStart {
  const command = [...launcher, process.execPath, script, ...LENIENT_FLAGS, ...args]
  // A write past the limit fails with an error instead of a signal. Root is not necessary.
  if (fileLimit) command.unshift('bash', '-c', `trap '' XFSZ; ulimit -S -f ${fileLimit}; exec "$0" "$@"`)
  const child = spawn(command[0]!, command.slice(1), {
    stdio: ['ignore', output ?? 'pipe', output ?? 'pipe'],
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  })
  const pid = child.pid!
  const seen = new Set<number>()
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text))
  // `close` comes after `exit`, when all output has arrived.
  const exit = new Promise<ProcessExit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))

  function listChildren(): number[] {
    let pids: number[]
    try {
      pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
    } catch {
      pids = []
    }
    for (const one of pids) seen.add(one)
    return pids.filter(isAlive)
  }

  onTestFinished(async () => {
    listChildren()
    child.kill('SIGKILL')
    await exit
    await waitUntil(() => [...seen].every((one) => !isAlive(one))).catch((error) => {
      for (const one of seen) if (isAlive(one)) process.kill(one, 'SIGKILL')
      throw error
    })
  })

  return {
    pid,
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    exit,
    listChildren,
    async waitUntilReady() {
      await waitUntil(() => {
        listChildren()
        if (hasExited(child)) throw new Error(`ended with ${child.signalCode ?? child.exitCode}: ${stderr}`)
        // Log lines may already follow the table and its examples.
        return /^service +URL[^]*\n\n(?!Try )/m.test(stdout)
      })
      return Object.fromEntries(
        Array.from(stdout.matchAll(ROW_PATTERN), ([, name, url, servicePid, threads]) => [
          name!,
          { url: url!, port: Number(new URL(url!).port), pid: Number(servicePid), threads: Number(threads) },
        ]),
      )
    },
    kill: (signal) => void process.kill(pid, signal),
    closeOutput() {
      child.stdout?.destroy()
      child.stderr?.destroy()
    },
    pauseOutput() {
      child.stdout?.pause()
      child.stderr?.pause()
    },
    async stop(signal = 'SIGTERM') {
      listChildren()
      process.kill(pid, signal)
      return exit
    },
  }
}
