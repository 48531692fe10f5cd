import type { MetricsJson } from './request-metrics.ts'
import { sumMetrics } from './process-metrics.ts'

/** What one serving thread tells of itself. */
export interface ThreadMetrics {
  readonly index: number
  /** Another one for each thread that ever had this index. */
  readonly life: number
  readonly metrics: MetricsJson
}

/** The figures of all threads, dead ones included. */
export interface ThreadMetricsMerger {
  /**
   * Takes what the threads that answered tell; gives the figures to be summed. Who does not answer, or was replaced, still
   * has what it last counted: a counter never falls. Its gauges are gone. One call at a time.
   */
  take(answers: readonly ThreadMetrics[]): Promise<MetricsJson[]>
}

const COUNT_TYPES = new Set<unknown>(['counter', 'histogram'])
const selectCounts = (metrics: MetricsJson): MetricsJson => metrics.filter(({ type }) => COUNT_TYPES.has(type))

export function createThreadMetricsMerger(): ThreadMetricsMerger {
  const last = new Map<number, ThreadMetrics>()
  /** What threads that were replaced had counted. */
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
