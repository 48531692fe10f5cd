import { execFileSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'

/** Where and on what a result was measured. Nothing in it names the machine. */
export interface Machine {
  readonly processor: string
  readonly processors: number
  readonly memoryGiB: number
  readonly platform: string
  readonly node: string
  readonly commit: string
  /** Average number of busy processes in the minute before. */
  readonly load: number
  readonly date: string
}

function commit(): string {
  try {
    const hash = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim()
    const dirty = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).trim() !== ''
    return dirty ? `${hash}+changes` : hash
  } catch {
    return 'unknown'
  }
}

export function describeMachine(): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    processors: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    commit: commit(),
    load: Math.round(loadavg()[0]! * 100) / 100,
    date: new Date().toISOString(),
  }
}
