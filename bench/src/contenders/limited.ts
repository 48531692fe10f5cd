import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import type { Contender } from './contender.ts'

// Either version of control groups.
const ROOT = '/sys/fs/cgroup'
const [GROUPS, LIMIT] = existsSync(`${ROOT}/memory`)
  ? [`${ROOT}/memory`, 'memory.limit_in_bytes']
  : [ROOT, 'memory.max']

/**
 * A contender that may hold so much memory once it has started, the pages of files that it reads and writes included. What
 * others have read of them before is not its own: evict it first.
 */
export const limited = (contender: Contender, bytes: number): Contender => ({
  ...contender,
  async start() {
    const running = await contender.start()
    const group = `${GROUPS}/influencer-stats-${running.pid}`
    try {
      mkdirSync(group)
      writeFileSync(`${group}/${LIMIT}`, String(bytes))
      writeFileSync(`${group}/cgroup.procs`, String(running.pid))
    } catch (error) {
      await running.stop()
      throw new Error(`memory cannot be limited here: ${(error as Error).message}`, { cause: error })
    }
    return { ...running, stop: () => running.stop().finally(() => rmdirSync(group)) }
  },
})
