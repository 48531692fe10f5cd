import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { START_SCRIPT } from '@influencer-stats/runtime/testing/spawn-start'
import { onTestFinished } from 'vitest'

/** Script that `pnpm kv` runs. */
export const CLI_PATH = fileURLToPath(new URL('../../src/cli/kv.ts', import.meta.url))

/** A program that has ended. */
export interface EndedProcess {
  readonly code: number | null
  readonly stderr: string
}

/** A service process, and the separate supervisor process that started it. */
export interface SpawnedKv {
  readonly url: Promise<string>
  /** Pid of the service. */
  readonly pid: Promise<number>
  readonly ended: Promise<EndedProcess>
  /** Returns all output on stderr up to now. */
  readOutput(): string
  stop(): Promise<EndedProcess>
  /** Kills the service, then the supervisor, without a drain. Resolves after both have ended. */
  crash(): Promise<EndedProcess>
}

/** Starts the service like `pnpm start kv`, in a process that ends with the test. */
export function spawnKv(
  folder: string,
  { fileBlocks, settings = [] }: { fileBlocks?: number; settings?: readonly string[] } = {},
): SpawnedKv {
  const args = [process.execPath, START_SCRIPT, 'kv', '--port', '0', '--kv.data', folder, ...settings]
  // A write past the limit then fails with an error instead of a signal, as on a full disk. Root is not necessary.
  const limited = ['-c', `trap '' XFSZ; ulimit -f ${fileBlocks}; exec "$0" "$@"`, ...args]
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = fileBlocks
    ? spawn('bash', limited, { stdio: [...stdio] })
    : spawn(args[0]!, args.slice(1), { stdio: [...stdio] })
  let stdout = ''
  let stderr = ''
  const ready = new Promise<{ url: string; pid: number }>((resolve) => {
    child.stdout!.setEncoding('utf8').on('data', (part) => {
      stdout += part
      const found = /^kv +(http:\S+) +(\d+) +\d+$/m.exec(stdout)
      if (found) resolve({ url: found[1]!, pid: Number(found[2]) })
    })
  })
  child.stderr!.setEncoding('utf8').on('data', (part) => (stderr += part))
  const ended = once(child, 'close').then(([code]): EndedProcess => ({ code, stderr }))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return {
    url: ready.then(({ url }) => url),
    pid: ready.then(({ pid }) => pid),
    ended,
    readOutput: () => stderr,
    async crash() {
      process.kill((await ready).pid, 'SIGKILL')
      child.kill('SIGKILL')
      return ended
    },
    async stop(): Promise<EndedProcess> {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Command that ran to its end, with its output on stdout. */
export interface EndedCli extends EndedProcess {
  readonly stdout: Buffer
}

/** Runs `pnpm kv ...`. */
export const runCli = (...args: string[]): Promise<EndedCli> => runCliWithInput('', ...args)

/** Runs `pnpm kv ...` with `input` on stdin. */
export async function runCliWithInput(input: string | Uint8Array, ...args: string[]): Promise<EndedCli> {
  const child = spawn(process.execPath, [CLI_PATH, ...args], { stdio: 'pipe' })
  // The command may end without reading the input.
  child.stdin.on('error', () => {}).end(input)
  const [stdout, stderr, [code]] = await Promise.all([buffer(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

/** Runs a bash script in which `kv` is `pnpm kv`. */
export async function runShell(script: string, env: NodeJS.ProcessEnv = {}): Promise<EndedCli> {
  const kv = `kv() { "$NODE" "$CLI" "$@"; }\n`
  const child = spawn('bash', ['-c', kv + script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, NODE: process.execPath, CLI: CLI_PATH },
  })
  const [stdout, stderr, [code]] = await Promise.all([buffer(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}
