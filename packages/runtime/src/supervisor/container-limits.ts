import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Limits that control groups of Linux set for this process: those of a container or of a systemd unit. */
export interface ContainerLimits {
  /** Processors, as a quota: 1.5 is one and a half. Infinity without a limit. */
  readonly processors: number
  /** Memory (bytes). Infinity without a limit. */
  readonly memory: number
}

/** Version 1 writes "no limit" as the largest number of whole pages. */
const MAX_V1_BYTES = 2 ** 60

/**
 * Reads the limits of this process's control groups and of all groups around them, for versions 1 and 2.
 * @param root folder that replaces `/` in tests
 */
export function readContainerLimits(root = '/'): ContainerLimits {
  const limits = { processors: Infinity, memory: Infinity }
  for (const line of (readText(root, 'proc/self/cgroup') ?? '').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (controllers === undefined || path === undefined) continue
    const names = controllers.split(',')
    if (controllers === '') {
      lower(limits, 'memory', path, (group) => toNumber(readText(root, 'sys/fs/cgroup', group, 'memory.max')))
      lower(limits, 'processors', path, (group) => {
        const [quota, period] = readText(root, 'sys/fs/cgroup', group, 'cpu.max')?.split(' ') ?? []
        return toNumber(quota) / toNumber(period)
      })
    }
    if (names.includes('memory'))
      lower(limits, 'memory', path, (group) => {
        const bytes = toNumber(readText(root, 'sys/fs/cgroup/memory', group, 'memory.limit_in_bytes'))
        return bytes < MAX_V1_BYTES ? bytes : NaN
      })
    if (names.includes('cpu'))
      lower(limits, 'processors', path, (group) => {
        const read = (name: string) => toNumber(readText(root, `sys/fs/cgroup/${controllers}`, group, name))
        const [quota, period] = [read('cpu.cfs_quota_us'), read('cpu.cfs_period_us')]
        return quota > 0 ? quota / period : NaN
      })
  }
  return limits
}

/**
 * Applies the limits of a group and of all groups around it. In a container the path may be that of the host: then only
 * the outermost folder exists, which is the group of the container.
 */
function lower(
  limits: { processors: number; memory: number },
  name: 'processors' | 'memory',
  path: string,
  read: (group: string) => number,
): void {
  const parts = path.split('/').filter((part) => part !== '' && part !== '..')
  for (let length = parts.length; length >= 0; length--) {
    const limit = read(parts.slice(0, length).join('/'))
    if (limit > 0) limits[name] = Math.min(limits[name], limit)
  }
}

/** NaN for `max`, and for a file that does not exist. */
const toNumber = (text: string | undefined): number => Number.parseInt(text ?? '', 10)

function readText(...path: string[]): string | undefined {
  try {
    return readFileSync(join(...path), 'utf8').trim()
  } catch {
    return undefined
  }
}
