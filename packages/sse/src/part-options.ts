import type { CommonSettings } from '@influencer-stats/runtime/settings'
import { availableParallelism } from 'node:os'
import type { HistoryOptions } from './history/history.ts'
import type { SseConfig } from './settings.ts'

type SsePartConfig = SseConfig & Pick<CommonSettings, 'data' | 'threads'>

/**
 * Returns the number of copies of the history in a process. Each serving thread answers from its own copy. The main
 * thread has one more, from which new threads get theirs.
 */
function countCopies({ broker, threads }: SsePartConfig): number {
  if (broker === 'local') return 1
  return countServingThreads(threads) + 1
}

const countServingThreads = (threads: string) =>
  Math.max(1, threads === 'auto' ? availableParallelism() : Number(threads))

/**
 * Returns the maximum number of streams of one address on a thread. The default is half of `maxStreams`, divided by the
 * number of threads.
 */
export const getMaxPerAddress = ({ maxStreams, maxStreamsPerAddress, threads }: SsePartConfig) =>
  maxStreamsPerAddress || Math.ceil(maxStreams / 2 / countServingThreads(threads))

/** Returns the options of a history. Its memory is an equal share of `historyTotal`. */
export function getHistoryOptions(config: SsePartConfig, log: HistoryOptions['log']): HistoryOptions {
  const { data: folder, historyCount: count, historyBytes: bytes, historyAge: age } = config
  const total = Math.floor(config.historyTotal / countCopies(config))
  return { log, folder, count, bytes, age, topics: config.maxTopics, total }
}

export const getBacklogLimits = ({ maxLag, maxLagBytes }: SseConfig) => ({ values: maxLag, bytes: maxLagBytes })
