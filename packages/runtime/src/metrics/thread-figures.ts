import type { MetricsJson } from './metrics.ts'
import { sumMetrics } from './process-metrics.ts'

/** What one serving thread tells of itself. */
export interface ThreadFigures {
  readonly index: number
  /** Another one for each thread that ever had this index. */
  readonly life: number
  readonly metrics: MetricsJson
}

/** The figures of all threads, dead ones included. */
export interface Figures {
  /**
   * Takes what the threads that answered tell; gives the figures to be summed. Who does not answer, or was replaced, still
   * has what it last counted: a counter never falls. Its gauges are gone. One call at a time.
   */
  take(answers: readonly ThreadFigures[]): Promise<MetricsJson[]>
}

const COUNTS = new Set<unknown>(['counter', 'histogram'])
const countsOf = (metrics: MetricsJson): MetricsJson => metrics.filter(({ type }) => COUNTS.has(type))

export function createFigures(): Figures {
  const last = new Map<number, ThreadFigures>()
  /** What threads that were replaced had counted. */
  let gone: MetricsJson = []

  return {
    async take(answers) {
      for (const figures of answers) {
        const before = last.get(figures.index)
        if (before && before.life !== figures.life) gone = await sumMetrics([gone, countsOf(before.metrics)])
        last.set(figures.index, figures)
      }
      const silent = [...last.values()].filter((figures) => !answers.includes(figures))
      return [gone, ...answers.map(({ metrics }) => metrics), ...silent.map(({ metrics }) => countsOf(metrics))]
    },
  }
}
