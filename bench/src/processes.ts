import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

// Linux counts processor time in ticks of 10 ms.
const TICKS_PER_SECOND = 100

const hasTaskset = process.platform === 'linux' && spawnSync('taskset', ['-V']).status === 0
const canPin = hasTaskset && availableParallelism() > 1

/** The processors that servers and generators get: apart where there are two, in all rows alike. */
export const PINS: { server?: readonly number[]; readonly client?: readonly number[] } = canPin
  ? { server: [0], client: [1] }
  : {}

/** Assigns a processor to each serving thread, except the generator's processor, if there are enough. */
export function setServerProcessors(threads: number): void {
  if (!canPin) return
  const all = Array.from({ length: availableParallelism() }, (_, processor) => processor)
  PINS.server = all.filter((processor) => !PINS.client!.includes(processor)).slice(0, threads)
}

/** A command that keeps to these processors where `taskset` (util-linux) is installed, else the command as it is. */
export function toPinnedCommand(processors: readonly number[] | undefined, command: readonly string[]): string[] {
  return hasTaskset && processors?.length ? ['taskset', '-c', processors.join(','), ...command] : [...command]
}

/** Ahead of all others where this process may have it so, else the command as it is: for one that seldom has work. */
export function toPriorityCommand(command: readonly string[]): string[] {
  canPrioritize ??= process.platform === 'linux' && spawnSync('chrt', [...PRIORITY_ARGS, 'true']).status === 0
  return canPrioritize ? ['chrt', ...PRIORITY_ARGS, ...command] : [...command]
}
const PRIORITY_ARGS = ['--rr', '1']
let canPrioritize: boolean | undefined

const children = new Set<ChildProcess>()

/** Has a process ended with this one, should somebody end this one early. */
export function trackChild(child: ChildProcess): ChildProcess {
  children.add(child)
  return child.once('exit', () => children.delete(child))
}

/** Ends all that was started; whoever waits for one of them hears of it. */
export function stopChildren(): void {
  for (const child of children) child.kill('SIGTERM')
}

/** A process that serves until it is told to end. */
export interface ServerProcess {
  readonly child: ChildProcess
  readonly exit: Promise<unknown>
  /** An error that says what it had to say of itself. */
  failure(name: string): Error
  /** Resolves once it is gone. Idempotent. */
  stop(): Promise<void>
}

/** Spawns a server, bound to some processors where that can be had. Its stdout is for whoever starts it. */
export function spawnServer(
  pin: readonly number[] | undefined,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServerProcess {
  const [program, ...rest] = toPinnedCommand(pin, [command, ...args])
  const child = trackChild(
    spawn(program!, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } }),
  )
  const exit = once(child, 'exit')
  let stderrText = ''
  child.stderr!.on('data', (text) => (stderrText += text))
  return {
    child,
    exit,
    failure: (name) => new Error(`${name} did not start: ${stderrText.trim()}`),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await exit
    },
  }
}

/** The sum of the numbers that a pattern finds in a file of /proc; NaN where the platform, or the process, is not there. */
function readProcSum(file: string, pattern: RegExp): number {
  try {
    const [, ...numbers] = pattern.exec(readFileSync(`/proc/${file}`, 'utf8')) ?? [NaN, NaN]
    return numbers.reduce<number>((sum, number) => sum + Number(number), 0)
  } catch {
    return NaN
  }
}
const MB_PER_KB = 1024 / 1e6

/** Seconds of processor time that processes have taken, all their threads together. */
export const getProcessorSeconds = (...pids: readonly number[]): number =>
  // The second field is the command in parentheses, which may have spaces.
  pids.reduce((sum, pid) => sum + readProcSum(`${pid}/stat`, /.*\)(?: \S+){11} (\d+) (\d+)/s), 0) / TICKS_PER_SECOND

/** Memory of a process that is resident now (MB = 10^6 bytes), or the part of it that is of mapped files. */
export const getResidentMegabytes = (pid: number, part: 'VmRSS' | 'RssFile' = 'VmRSS'): number =>
  readProcSum(`${pid}/status`, new RegExp(`${part}:\\s+(\\d+) kB`)) * MB_PER_KB

/** The same, of what it shares with others an equal part. */
export const getProportionalMegabytes = (pid: number): number =>
  readProcSum(`${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m) * MB_PER_KB

/** Bytes that a process has had read from disks. */
export const getBytesRead = (pid: number): number => readProcSum(`${pid}/io`, /^read_bytes: (\d+)/m)

/** Seconds of processor time that the host gave to others, of all processors. */
export const getStolenSeconds = (): number => readProcSum('stat', /^cpu(?: +\d+){7} (\d+)/) / TICKS_PER_SECOND

/** Memory that the kernel holds for itself, sockets included (MB). */
export const getKernelMegabytes = (): number => readProcSum('meminfo', /^Slab:\s+(\d+) kB/m) * MB_PER_KB
