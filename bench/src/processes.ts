import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

// Linux counts processor time in ticks of 10 ms.
const TICKS_A_SECOND = 100

const hasTaskset = process.platform === 'linux' && spawnSync('taskset', ['-V']).status === 0
const canPin = hasTaskset && availableParallelism() > 1

/** The processors that servers and generators get: apart where there are two, in all rows alike. */
export const PINS: { readonly server?: readonly number[]; readonly client?: readonly number[] } = canPin
  ? { server: [0], client: [1] }
  : {}

/** A command that keeps to these processors where `taskset` (util-linux) is installed, else the command as it is. */
export function pinned(processors: readonly number[] | undefined, command: readonly string[]): string[] {
  return hasTaskset && processors?.length ? ['taskset', '-c', processors.join(','), ...command] : [...command]
}

/** Spawns a command, bound to some processors where that can be had. */
export function spawnPinned(
  pin: readonly number[] | undefined,
  command: string,
  args: readonly string[],
  env = {},
): ChildProcess {
  const [program, ...rest] = pinned(pin, [command, ...args])
  return spawn(program!, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
}

/** Seconds of processor time that a process has taken, all its threads together. NaN where the platform cannot tell. */
export function processorSeconds(pid: number): number {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return NaN
  // The second field is the command in parentheses, which may have spaces.
  const fields = readFileSync(file, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}

/** Memory of a process that is resident now (MB = 10^6 bytes), or the part of it that is of mapped files. */
export function residentMegabytes(pid: number, part: 'VmRSS' | 'RssFile' = 'VmRSS'): number {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return NaN
  return (Number(new RegExp(`${part}:\\s+(\\d+) kB`).exec(readFileSync(file, 'utf8'))![1]) * 1024) / 1e6
}

/** Bytes that a process has had read from disks. NaN where the platform cannot tell. */
export function bytesRead(pid: number): number {
  const file = `/proc/${pid}/io`
  return existsSync(file) ? Number(/^read_bytes: (\d+)/m.exec(readFileSync(file, 'utf8'))![1]) : NaN
}

/** Seconds of processor time that the host gave to others, of all processors. NaN where the platform cannot tell. */
export function stolenSeconds(): number {
  if (!existsSync('/proc/stat')) return NaN
  return Number(readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/ +/)[8]) / TICKS_A_SECOND
}

/** Memory that the kernel holds for itself, sockets included (MB). NaN where the platform cannot tell. */
export function kernelMegabytes(): number {
  const file = '/proc/meminfo'
  return existsSync(file) ? (Number(/^Slab:\s+(\d+) kB/m.exec(readFileSync(file, 'utf8'))![1]) * 1024) / 1e6 : NaN
}
