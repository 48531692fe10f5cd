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
  return servingThreads(threads) + 1
}

const servingThreads = (threads: string) => Math.max(1, threads === 'auto' ? availableParallelism() : Number(threads))

/** How many streams one address may have on a thread: half of all, unless a setting says how many. */
export const mostPerAddress = ({ maxStreams, maxStreamsPerAddress, threads }: Config) =>
  maxStreamsPerAddress || Math.ceil(maxStreams / 2 / servingThreads(threads))

/** What any history is made of. */
export function historyOptions(config: Config, log: HistoryOptions['log']): HistoryOptions {
  const { data: folder, historyCount: count, historyBytes: bytes, historyAge: age } = config
  const total = Math.floor(config.historyTotal / copiesOf(config))
  return { log, folder, count, bytes, age, topics: config.maxTopics, total }
}

/** How far the threads may lag behind the order. */
export const lagLimits = ({ maxLag, maxLagBytes }: SseConfig) => ({ values: maxLag, bytes: maxLagBytes })
