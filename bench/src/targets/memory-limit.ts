import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import type { BenchTarget } from './target.ts'

// Supports both versions of control groups.
const CGROUP_ROOT = '/sys/fs/cgroup'
const [GROUPS, LIMIT_FILE] = existsSync(`${CGROUP_ROOT}/memory`)
  ? [`${CGROUP_ROOT}/memory`, 'memory.limit_in_bytes']
  : [CGROUP_ROOT, 'memory.max']

/**
 * Limits the memory of a target after its start, including the pages of files that it reads and writes.
 * @param evict called under the limit. Pages that were read before count for no limit, so it must evict them
 */
export const limitMemory = (target: BenchTarget, bytes: number, evict: () => void): BenchTarget => ({
  ...target,
  async start() {
    const running = await target.start()
    const group = `${GROUPS}/influencer-stats-${running.pid}`
    try {
      mkdirSync(group)
      writeFileSync(`${group}/${LIMIT_FILE}`, String(bytes))
      writeFileSync(`${group}/cgroup.procs`, String(running.pid))
      evict()
    } catch (error) {
      await running.stop()
      throw new Error(`memory cannot be limited here: ${(error as Error).message}`, { cause: error })
    }
    return { ...running, stop: () => running.stop().finally(() => rmdirSync(group)) }
  },
})
