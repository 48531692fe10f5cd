import { hasExited } from '@influencer-stats/runtime/async/has-exited'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { delimiter, join } from 'node:path'

// Linux counts processor time in ticks of 10 ms.
const TICKS_PER_SECOND = 100

const hasTaskset =
  process.platform === 'linux' &&
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'taskset')))
const canPin = hasTaskset && availableParallelism() > 1

/** Processors of servers and of generators, the same in all rows. With one processor there are none. */
export const PINS: { server?: readonly number[]; readonly client?: readonly number[] } = canPin
  ? { server: [0], client: [1] }
  : {}

/** Gives servers a processor for each serving thread, if there are enough without that of the generator. */
export function setServerProcessors(threads: number): void {
  if (!canPin) return
  const all = Array.from({ length: availableParallelism() }, (_, processor) => processor)
  PINS.server = all.filter((processor) => !PINS.client!.includes(processor)).slice(0, threads)
}

/** Returns a command that runs on these processors. Without `taskset` (util-linux) the command is unchanged. */
export function toPinnedCommand(processors: readonly number[] | undefined, command: readonly string[]): string[] {
  return hasTaskset && processors?.length ? ['taskset', '-c', processors.join(','), ...command] : [...command]
}

/** Moves all threads of a running process to these processors, if `taskset` is installed. Later threads follow. */
export function pinProcess(pid: number, processors: readonly number[] | undefined): void {
  if (hasTaskset && processors?.length) spawnSync('taskset', ['-acp', processors.join(','), String(pid)])
}

/**
 * Returns a command that runs with real-time priority. Without the permission the command is unchanged. For processes
 * that are idle during a large part of their time.
 */
export function toPriorityCommand(command: readonly string[]): string[] {
  canPrioritize ??= process.platform === 'linux' && spawnSync('chrt', [...PRIORITY_ARGS, 'true']).status === 0
  return canPrioritize ? ['chrt', ...PRIORITY_ARGS, ...command] : [...command]
}
const PRIORITY_ARGS = ['--rr', '1']
let canPrioritize: boolean | undefined

const children = new Set<ChildProcess>()
let isStopped = false

/** Tracks a child process, so that `stopChildren` ends it if the user interrupts the run, also if it starts later. */
export function trackChild(child: ChildProcess): ChildProcess {
  if (isStopped) child.kill('SIGTERM')
  children.add(child)
  return child.once('exit', () => children.delete(child))
}

/** Ends all tracked processes. */
export function stopChildren(): void {
  isStopped = true
  for (const child of children) child.kill('SIGTERM')
}

/** A process that serves until it is stopped. */
export interface ServerProcess {
  readonly child: ChildProcess
  readonly exit: Promise<unknown>
  /** Returns an error with the output of the process. */
  failure(name: string): Error
  /** Resolves after the exit. Idempotent. */
  stop(): Promise<void>
}

/** Spawns a server on the given processors, if possible. The caller must read its stdout. */
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
      if (!hasExited(child)) child.kill('SIGTERM')
      await exit
    },
  }
}

/** Sum of the numbers that a pattern finds in a file of /proc; NaN if the platform or the process does not have it. */
function readProcSum(file: string, pattern: RegExp): number {
  try {
    const [, ...numbers] = pattern.exec(readFileSync(`/proc/${file}`, 'utf8')) ?? [NaN, NaN]
    return numbers.reduce<number>((sum, number) => sum + Number(number), 0)
  } catch {
    return NaN
  }
}
const MB_PER_KB = 1024 / 1e6

/** Processor time that processes have used, over all their threads (s). */
export const getProcessorSeconds = (...pids: readonly number[]): number =>
  // The second field is the command in parentheses, which may contain spaces.
  pids.reduce((sum, pid) => sum + readProcSum(`${pid}/stat`, /.*\)(?: \S+){11} (\d+) (\d+)/s), 0) / TICKS_PER_SECOND

/** Measures this process. @returns a function that returns the seconds since then, and the used share of a processor */
export function startOwnMeter() {
  const [usage, began] = [process.cpuUsage(), performance.now()]
  return () => {
    const { user, system } = process.cpuUsage(usage)
    const seconds = (performance.now() - began) / 1000
    return { seconds, cpu: (user + system) / 1e6 / seconds }
  }
}

/** Sum of a field of `schedstat` over all threads of processes (ns), as seconds. */
const sumThreads = (pids: readonly number[], pattern: RegExp): number =>
  pids.reduce((sum, pid) => {
    const threads = readdirSync(`/proc/${pid}/task`)
    return sum + threads.reduce((time, id) => time + readProcSum(`${pid}/task/${id}/schedstat`, pattern), 0)
  }, 0) / 1e9

/**
 * As `getProcessorSeconds`, in nanosecond resolution, for measurements that are shorter than a tick. Threads that have
 * ended are not counted.
 */
export const getThreadSeconds = (...pids: readonly number[]): number => sumThreads(pids, /^(\d+)/)

/** Time in which threads of processes were ready to run and had no processor (s). Threads that have ended do not count. */
export const getWaitingSeconds = (...pids: readonly number[]): number => sumThreads(pids, /^\d+ (\d+)/)

/** Resident memory of a process (MB = 10^6 bytes), or only the part for mapped files. */
export const getResidentMegabytes = (pid: number, part: 'VmRSS' | 'RssFile' = 'VmRSS'): number =>
  readProcSum(`${pid}/status`, new RegExp(`${part}:\\s+(\\d+) kB`)) * MB_PER_KB

/**
 * Samples the resident memory of a process (MB). Returns a function that ends this and returns the memory at the start and
 * at the peak; `files` are the parts for mapped files.
 */
export function watchMemory(pid: number, intervalMs: number) {
  const read = () => ({ all: getResidentMegabytes(pid), files: getResidentMegabytes(pid, 'RssFile') })
  const before = read()
  let peak = before
  function updatePeak(): void {
    if (getResidentMegabytes(pid) > peak.all) peak = read()
  }
  const timer = setInterval(updatePeak, intervalMs).unref()
  return () => {
    clearInterval(timer)
    updatePeak()
    return { before, peak }
  }
}

/** Resident memory of a process (MB), in which memory that n processes share counts as one n-th. */
export const getProportionalMegabytes = (pid: number): number =>
  readProcSum(`${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m) * MB_PER_KB

/** Bytes that were read from disks for a process. */
export const getBytesRead = (pid: number): number => readProcSum(`${pid}/io`, /^read_bytes: (\d+)/m)

/** The monotonic clock (us), which is also that of V8's profiles on Linux. */
export const readProfileClock = (): number => Number(process.hrtime.bigint() / 1000n)

/** Number of times that a process waited for a page from a disk (major faults). */
export const getMajorFaults = (pid: number): number => readProcSum(`${pid}/stat`, /.*\)(?: \S+){9} (\d+)/s)

/** Processor time that the host gave to other machines, over all processors (s). */
export const getStolenSeconds = (): number => readProcSum('stat', /^cpu(?: +\d+){7} (\d+)/) / TICKS_PER_SECOND

/** Memory of the kernel itself, including sockets (MB). */
export const getKernelMegabytes = (): number => readProcSum('meminfo', /^Slab:\s+(\d+) kB/m) * MB_PER_KB
