import type { MetricsJson } from './request-metrics.ts'
import { sumMetrics } from './process-metrics.ts'

/** Metrics of one serving thread. */
export interface ThreadMetrics {
  readonly index: number
  /** Id of the thread in the process. A replacement has the same index, but another id. */
  readonly threadId: number
  readonly metrics: MetricsJson
}

const COUNT_TYPES = new Set<unknown>(['counter', 'histogram'])
const selectCounts = (metrics: MetricsJson): MetricsJson => metrics.filter(({ type }) => COUNT_TYPES.has(type))

/**
 * Creates a function that takes the metrics of the threads that replied, and returns the metrics to be added up. For a
 * thread that does not reply or was replaced, its last counts remain, because a counter must never decrease. Its gauges
 * are dropped. Calls must not overlap.
 */
export function createThreadMetricsMerger(): (replies: readonly ThreadMetrics[]) => Promise<MetricsJson[]> {
  const last = new Map<number, ThreadMetrics>()
  /** Counts of the threads that were replaced. */
  let replaced: MetricsJson = []

  return async (replies) => {
    for (const threadMetrics of replies) {
      const before = last.get(threadMetrics.index)
      if (before && before.threadId !== threadMetrics.threadId)
        replaced = await sumMetrics([replaced, selectCounts(before.metrics)])
      last.set(threadMetrics.index, threadMetrics)
    }
    const silent = [...last.values()].filter((threadMetrics) => !replies.includes(threadMetrics))
    return [replaced, ...replies.map(({ metrics }) => metrics), ...silent.map(({ metrics }) => selectCounts(metrics))]
  }
}
