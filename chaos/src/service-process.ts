import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const START_SCRIPT = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url))

/** A service as `pnpm start` runs it: a process, and the supervisor that started it in another. */
export interface ServiceProcess {
  readonly url: string
  /** Pid of the service itself. It changes with a restart by the supervisor, and is `undefined` meanwhile. */
  readonly pid: number | undefined
  readonly supervisor: number
  /** Kills only the service; its supervisor restarts it. */
  kill(): void
  /** Kills both at once; resolves after their exit. */
  crash(): Promise<void>
  /** Stops them gracefully. @returns the exit code */
  stop(): Promise<number | null>
}

export interface ServiceRunOptions {
  /** Settings by name. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Command prefix with its arguments. */
  readonly under?: readonly string[]
  /** A module that is preloaded. */
  readonly preload?: string
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a service on a data folder; resolves once it is ready. @throws Error with its output if it exits instead */
export async function run(
  service: string,
  data: string,
  { settings = {}, under = [], preload, env = {} }: ServiceRunOptions = {},
): Promise<ServiceProcess> {
  const all = { port: 0, data, logLevel: 'warn', ...settings }
  const flags = Object.entries(all).flatMap(([name, value]) => [`--${service}.${name}`, String(value)])
  const [command, ...args] = [...under, process.execPath, START_SCRIPT, service, ...flags]
  const child = spawn(command!, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // strace would not see operations in an io_uring.
    env: { ...process.env, UV_USE_IO_URING: '0', ...(preload && { NODE_OPTIONS: `--import ${preload}` }), ...env },
  })
  let said = ''
  const row = new RegExp(`^${service} +(http:\\S+) +(\\d+) +\\d+$`, 'm')
  const ready = Promise.withResolvers<{ url: string }>()
  function collectOutput(text: string): void {
    if (said.length < 100_000) said += text
    const found = row.exec(said)
    if (found) ready.resolve({ url: found[1]! })
  }
  child.stdout.setEncoding('utf8').on('data', collectOutput)
  child.stderr.setEncoding('utf8').on('data', collectOutput)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  void ended.then(() => ready.reject(new Error(`${service} ended before it was ready: ${said}`)))
  const onExit = () => void child.kill('SIGKILL')
  process.once('exit', onExit)
  void ended.then(() => process.off('exit', onExit))

  const { url } = await ready.promise
  const supervisor = child.pid!
  const current = () =>
    readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8').split(' ').map(Number).find(Boolean)
  function kill(): void {
    const now = current()
    if (now) process.kill(now, 'SIGKILL')
  }
  return {
    url,
    supervisor,
    get pid() {
      return current()
    },
    kill,
    async crash() {
      kill()
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
