import type { CommonSettings } from '@influencer-stats/runtime/settings'
import { availableParallelism } from 'node:os'
import type { HistoryOptions } from './history/history.ts'
import type { SseConfig } from './settings.ts'

type SsePartConfig = SseConfig & Pick<CommonSettings, 'data' | 'threads'>

/**
 * Number of copies of the history in a process. Each thread has one, from which it answers directly. The main thread
 * has one for threads that start later.
 */
function countCopies({ broker, threads }: SsePartConfig): number {
  if (broker === 'local') return 1
  return countServingThreads(threads) + 1
}

const countServingThreads = (threads: string) =>
  Math.max(1, threads === 'auto' ? availableParallelism() : Number(threads))

/** Maximum streams of one address on a thread: its share of half of all streams, unless a setting limits them. */
export const getMaxPerAddress = ({ maxStreams, maxStreamsPerAddress, threads }: SsePartConfig) =>
  maxStreamsPerAddress || Math.ceil(maxStreams / 2 / countServingThreads(threads))

/** Returns the options of a history of any kind. */
export function getHistoryOptions(config: SsePartConfig, log: HistoryOptions['log']): HistoryOptions {
  const { data: folder, historyCount: count, historyBytes: bytes, historyAge: age } = config
  const total = Math.floor(config.historyTotal / countCopies(config))
  return { log, folder, count, bytes, age, topics: config.maxTopics, total }
}

/** Limits of the values that are published but not yet received by all threads. */
export const getBacklogLimits = ({ maxLag, maxLagBytes }: SseConfig) => ({ values: maxLag, bytes: maxLagBytes })
