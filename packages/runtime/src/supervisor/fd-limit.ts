import { readFileSync } from 'node:fs'
import type { CommonSettings } from '../settings/settings.ts'

// Descriptors for the table files of LevelDB, listeners and pipes.
const RESERVED_DESCRIPTORS = 1_024
const SOFT_LIMIT = /^Max open files +(\d+)/m

/**
 * Returns a note for the user if this process may open fewer file descriptors than its allowed connections need.
 * Undefined if the descriptors are sufficient or their limit is unknown; only Linux reports it.
 */
export function checkFdLimit(
  { maxConnections }: Pick<CommonSettings, 'maxConnections'>,
  threads: number,
  limitsFile = '/proc/self/limits',
): string | undefined {
  let limit: number
  try {
    limit = Number(SOFT_LIMIT.exec(readFileSync(limitsFile, 'utf8'))?.[1] ?? Infinity)
  } catch {
    return undefined
  }
  const needed = maxConnections * Math.max(1, threads) + RESERVED_DESCRIPTORS
  if (limit >= needed) return undefined
  return `ulimit -n is ${limit}: the service accepts fewer connections than --max-connections allows, which needs ${needed}`
}
