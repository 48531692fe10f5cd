import type { CommonSettings } from '@influencer-stats/runtime/settings'
import { availableParallelism } from 'node:os'
import type { HistoryOptions } from './history/history.ts'
import type { SseConfig } from './settings.ts'

type SsePartConfig = SseConfig & Pick<CommonSettings, 'data' | 'threads'>

/**
 * How often a process has what is remembered: each thread, which answers from it at once, and main, which gives it to
 * threads that start later.
 */
function countCopies({ broker, threads }: SsePartConfig): number {
  if (broker === 'local') return 1
  return countServingThreads(threads) + 1
}

const countServingThreads = (threads: string) =>
  Math.max(1, threads === 'auto' ? availableParallelism() : Number(threads))

/** How many streams one address may have on a thread: half of all, unless a setting says how many. */
export const getMaxPerAddress = ({ maxStreams, maxStreamsPerAddress, threads }: SsePartConfig) =>
  maxStreamsPerAddress || Math.ceil(maxStreams / 2 / countServingThreads(threads))

/** What any history is made of. */
export function getHistoryOptions(config: SsePartConfig, log: HistoryOptions['log']): HistoryOptions {
  const { data: folder, historyCount: count, historyBytes: bytes, historyAge: age } = config
  const total = Math.floor(config.historyTotal / countCopies(config))
  return { log, folder, count, bytes, age, topics: config.maxTopics, total }
}

/** How far the threads may lag behind the order. */
export const getBacklogLimits = ({ maxLag, maxLagBytes }: SseConfig) => ({ values: maxLag, bytes: maxLagBytes })
