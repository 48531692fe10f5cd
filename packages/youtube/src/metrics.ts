import type { OpenContext } from '@influencer-stats/runtime/service'
import type { Meter } from './meter.ts'

/** A counter in the shape of a prom-client metric, read from where it is counted when somebody asks. */
function counter(name: string, help: string, read: () => number) {
  const type = 'counter'
  const aggregator = 'sum'
  return {
    name,
    help,
    type,
    aggregator,
    get: () => ({ name, help, type, aggregator, values: [{ value: read(), labels: {} }] }),
    reset() {},
  }
}

/** Puts the counts of all threads into main's figures. */
export function registerMetrics(registry: OpenContext<unknown, Record<never, never>>['registry'], meter: Meter): void {
  const counters = [
    counter('youtube_calls_total', 'Calls of videos.list, whatever the answer.', () => meter.counts.calls),
    counter('youtube_ids_total', 'Video ids asked for.', () => meter.counts.ids),
  ]
  for (const metric of counters) registry.registerMetric(metric as never)
}
