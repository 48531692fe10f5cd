import type { HistoryOptions } from './history/history.ts'
import type { SseConfig } from './settings.ts'

type Config = SseConfig & { readonly data: string }

/** What any history is made of. */
export function historyOptions(config: Config, log: HistoryOptions['log']): HistoryOptions {
  const { data: folder, historyCount: count, historyBytes: bytes, historyAge: age } = config
  return { log, folder, count, bytes, age, topics: config.maxTopics, total: config.historyTotal }
}

/** How far the threads may lag behind the order. */
export const lagLimits = ({ maxLag, maxLagBytes }: SseConfig) => ({ values: maxLag, bytes: maxLagBytes })
