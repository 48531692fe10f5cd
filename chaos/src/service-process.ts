import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const START_SCRIPT = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url))

/** A service as `pnpm start` runs it: a process, and the supervisor that started it in another. */
export interface ServiceProcess {
  readonly url: string
  /** Of the service itself: another one when its supervisor has started it again, none meanwhile. */
  readonly pid: number | undefined
  readonly supervisor: number
  /** Kills the service alone: its supervisor starts it again. */
  kill(): void
  /** Kills both in the middle of whatever they do; resolves once they are gone. */
  crash(): Promise<void>
  /** Ends them in order. @returns the exit code */
  stop(): Promise<number | null>
}

export interface ServiceRunOptions {
  /** Settings by name. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** What the command is run under, with its own arguments. */
  readonly under?: readonly string[]
  /** A module that is loaded ahead of it. */
  readonly preload?: string
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a service on a data folder; resolves once it is ready. @throws Error with what it said where it ends instead */
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
    // What goes through a ring of its own would not be seen by strace.
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
