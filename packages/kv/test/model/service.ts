import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SCRIPTS = fileURLToPath(new URL('../../../../scripts/', import.meta.url))
const READY_PATTERN = /^kv +http:\/\/127\.0\.0\.1:(\d+) +(\d+) +\d+$/m

/** Server, store, commit mode and number of threads of an episode. */
export interface ModelConfiguration {
  readonly server: 'raw' | 'node-http' | 'fastify'
  readonly store: 'level' | 'memory'
  readonly commit: 'group' | 'single'
  readonly threads: 1 | 2
}

export const CONFIGURATIONS: readonly ModelConfiguration[] = (['raw', 'node-http', 'fastify'] as const).flatMap(
  (server) => [
    ...(['group', 'single'] as const).flatMap((commit) =>
      ([1, 2] as const).map((threads) => ({ server, store: 'level', commit, threads }) as const),
    ),
    { server, store: 'memory', commit: 'group', threads: 1 } as const,
  ],
)

/** Service as `pnpm start kv` runs it. */
export interface ModelService {
  readonly port: number
  /** Stops the service gracefully. @throws Error if it does not exit with 0 */
  stop(): Promise<void>
  /** Kills the service and its supervisor with `kill -9`. */
  kill(): Promise<void>
}

const start = (args: readonly string[]) => spawn(process.execPath, [...args], { stdio: ['ignore', 'pipe', 'pipe'] })

/** Starts kv on a data folder. @throws Error with its output if it ends before it is ready */
export async function startService(configuration: ModelConfiguration, folder: string): Promise<ModelService> {
  // The service must not shed load on a busy machine, because the model predicts each reply.
  const settings = {
    port: 0,
    maxQueueDelay: 0,
    logLevel: 'warn',
    queueTimeout: 60_000,
    watchdogTimeout: 60_000,
    ...configuration,
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--kv.${name}`, String(value)])
  const child = start([join(SCRIPTS, 'start.mjs'), 'kv', '--data', folder, ...flags])
  const killChild = () => void child.kill('SIGKILL')
  process.once('exit', killChild)
  let output = ''
  const ready = Promise.withResolvers<{ port: number; pid: number }>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      const found = READY_PATTERN.exec(output)
      if (found) ready.resolve({ port: Number(found[1]), pid: Number(found[2]) })
    })
  const ended = once(child, 'close').then(([code]) => {
    process.off('exit', killChild)
    ready.reject(new Error(`kv ended with ${code} before it was ready: ${output}`))
    return code as number | null
  })
  const { port, pid } = await ready.promise
  return {
    port,
    async stop() {
      child.kill('SIGTERM')
      const code = await ended
      if (code !== 0) throw new Error(`kv ended with ${code}: ${output}`)
    },
    async kill() {
      process.kill(pid, 'SIGKILL')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function runScript(name: string, args: readonly string[]): Promise<void> {
  const child = start([join(SCRIPTS, name), ...args])
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${output}`)
}

/** Runs `pnpm backup` on a running service. */
export const backUp = (port: number, files: string): Promise<void> =>
  runScript('backup.ts', [files, 'kv', '--kv.port', String(port)])

/** Runs `pnpm restore` into a data folder that does not exist yet. */
export const restore = (files: string, folder: string): Promise<void> =>
  runScript('restore.ts', [files, '--data', folder])

/** Copies the data folder of a stopped service. */
export const copyFolder = (from: string, to: string): void => cpSync(from, to, { recursive: true })
