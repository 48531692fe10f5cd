import type { CommonSettings } from '@influencer-stats/runtime/settings'
import { availableParallelism } from 'node:os'
import type { HistoryOptions } from './history/history.ts'
import type { SseConfig } from './settings.ts'

type Config = SseConfig & Pick<CommonSettings, 'data' | 'threads'>

/**
 * How often a process has what is remembered: each thread, which answers from it at once, and main, which gives it to
 * threads that start later.
 */
function copiesOf({ broker, threads }: Config): number {
  if (broker === 'local') return 1
  const serving = threads === 'auto' ? availableParallelism() : Number(threads)
  return Math.max(1, serving) + 1
}

/** What any history is made of. */
export function historyOptions(config: Config): HistoryOptions {
  const { data: folder, historyCount: count, historyBytes: bytes, historyAge: age } = config
  const total = Math.floor(config.historyTotal / copiesOf(config))
  return { folder, count, bytes, age, topics: config.maxTopics, total }
}

/** How far the threads may lag behind the order. */
export const lagLimits = ({ maxLag, maxLagBytes }: SseConfig) => ({ values: maxLag, bytes: maxLagBytes })
