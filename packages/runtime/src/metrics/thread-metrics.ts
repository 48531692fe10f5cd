import type { MetricsJson } from './request-metrics.ts'
import { sumMetrics } from './process-metrics.ts'

/** Metrics of one serving thread. */
export interface ThreadMetrics {
  readonly index: number
  /** Differs for each thread that has had this index. */
  readonly life: number
  readonly metrics: MetricsJson
}

/** Merges the metrics of all threads, including ended ones. */
export interface ThreadMetricsMerger {
  /**
   * Takes the metrics of the threads that replied, and returns the metrics to be added up. For a thread that does not
   * reply or was replaced, its last counts remain, because a counter never falls; its gauges are dropped. One call at a
   * time.
   */
  take(answers: readonly ThreadMetrics[]): Promise<MetricsJson[]>
}

const COUNT_TYPES = new Set<unknown>(['counter', 'histogram'])
const selectCounts = (metrics: MetricsJson): MetricsJson => metrics.filter(({ type }) => COUNT_TYPES.has(type))

export function createThreadMetricsMerger(): ThreadMetricsMerger {
  const last = new Map<number, ThreadMetrics>()
  /** Counts of the threads that were replaced. */
  let replaced: MetricsJson = []

  return {
    async take(answers) {
      for (const threadMetrics of answers) {
        const before = last.get(threadMetrics.index)
        if (before && before.life !== threadMetrics.life)
          replaced = await sumMetrics([replaced, selectCounts(before.metrics)])
        last.set(threadMetrics.index, threadMetrics)
      }
      const silent = [...last.values()].filter((threadMetrics) => !answers.includes(threadMetrics))
      return [replaced, ...answers.map(({ metrics }) => metrics), ...silent.map(({ metrics }) => selectCounts(metrics))]
    },
  }
}
