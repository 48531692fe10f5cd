import { execFileSync, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { hasExited } from '../../src/async/has-exited.ts'
import { waitUntil } from './wait-until.ts'

const ENTRY = fileURLToPath(new URL('./run-service.ts', import.meta.url))

/** A service in a separate process that a test can kill. */
export interface ServiceProcess {
  readonly url: string
  readonly pid: number
  /** Its log, one JSON object per line. */
  log(): { level: number; msg: string; err?: { message: string } }[]
  /** Sends a signal and waits for the exit. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

/** @param env added to the environment of this process */
export async function spawnService(
  name: string,
  settings: Record<string, string | number>,
  env: Readonly<Record<string, string>> = {},
): Promise<ServiceProcess> {
  const args = [ENTRY, name, JSON.stringify({ logLevel: 'info', ...settings })]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env } })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const exit = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exit
  }
  onTestFinished(() => end('SIGKILL'))
  const lines = () => output.split('\n').slice(0, -1)
  const url = await waitUntil(() => {
    if (hasExited(child)) throw new Error(`${name} did not start: ${output}`)
    return lines().find((line) => line.startsWith('http://'))
  })
  return {
    url,
    pid: child.pid!,
    log: () =>
      lines()
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line)),
    end,
  }
}

/**
 * Limits the size of the files that a process writes (bytes). A longer write is cut off, as on a full disk. Linux only.
 */
export function limitFileSize(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}
