import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const START_SCRIPT = fileURLToPath(new URL('../../scripts/start.mjs', import.meta.url))

/** A running service, as `pnpm start` starts it: a supervisor process and its child, the service process. */
export interface ServiceProcess {
  readonly url: string
  /** Pid of the service process; undefined while the supervisor restarts it. */
  readonly pid: number | undefined
  /** Pid of the supervisor. */
  readonly supervisor: number
  /** Kills only the service process; the supervisor restarts it. */
  kill(): void
  /** Kills both processes; resolves after their exit. */
  crash(): Promise<void>
  /** Stops both gracefully. @returns the exit code of the supervisor */
  stop(): Promise<number | null>
}

export interface ServiceRunOptions {
  /** Settings by name. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Command under which the service runs, with its arguments, such as `strace`. */
  readonly under?: readonly string[]
  /** URL of a module that every Node process of the service preloads. */
  readonly preload?: string
  /** Additional environment variables. */
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
    // Without io_uring, because strace does not see its operations.
    env: { ...process.env, UV_USE_IO_URING: '0', ...(preload && { NODE_OPTIONS: `--import ${preload}` }), ...env },
  })
  let output = ''
  const row = new RegExp(`^${service} +(http:\\S+) +(\\d+) +\\d+$`, 'm')
  const ready = Promise.withResolvers<{ url: string }>()
  function collectOutput(text: string): void {
    if (output.length < 100_000) output += text
    const found = row.exec(output)
    if (found) ready.resolve({ url: found[1]! })
  }
  child.stdout.setEncoding('utf8').on('data', collectOutput)
  child.stderr.setEncoding('utf8').on('data', collectOutput)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  void ended.then(() => ready.reject(new Error(`${service} ended before it was ready: ${output}`)))
  const onExit = () => void child.kill('SIGKILL')
  process.once('exit', onExit)
  void ended.then(() => process.off('exit', onExit))

  const { url } = await ready.promise
  const supervisor = child.pid!
  const getPid = () =>
    readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8').split(' ').map(Number).find(Boolean)
  function kill(): void {
    const pid = getPid()
    if (pid) process.kill(pid, 'SIGKILL')
  }
  return {
    url,
    supervisor,
    get pid() {
      return getPid()
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
