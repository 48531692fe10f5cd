import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A control group of Linux that limits the memory of its processes, as a container does. */
export interface MemoryGroup {
  /** Command that starts the command in its arguments in this group. */
  readonly launcher: readonly string[]
  /** Maximum memory of the group's processes up to now, with their page cache (bytes). */
  readPeakBytes(): number
  /** Number of processes that the system has killed. */
  countKills(): number
  /** Removes the group. Its processes must have ended. */
  remove(): void
}

const ROOT = '/sys/fs/cgroup'
const LAUNCH_SCRIPT = 'echo $$ > "$0" && exec "$@"'

/**
 * Creates a control group (version 1 or 2); `undefined` without the permission, which root has.
 * @param bytes limit of the memory
 */
export function createMemoryGroup(name: string, bytes: number): MemoryGroup | undefined {
  const isV1 = existsSync(join(ROOT, 'memory/memory.limit_in_bytes'))
  const folder = join(ROOT, isV1 ? 'memory' : '', name)
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')
  try {
    if (!isV1) writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+memory')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, isV1 ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes))
  } catch {
    return undefined
  }
  return {
    launcher: ['bash', '-c', LAUNCH_SCRIPT, join(folder, 'cgroup.procs')],
    readPeakBytes: () => Number(read(isV1 ? 'memory.max_usage_in_bytes' : 'memory.peak')),
    countKills: () => Number(/^oom_kill (\d+)$/m.exec(read(isV1 ? 'memory.oom_control' : 'memory.events'))?.[1] ?? 0),
    remove: () => rmdirSync(folder),
  }
}
