import { registerCounter } from '@influencer-stats/runtime/counter'
import type { OpenContext } from '@influencer-stats/runtime/service'
import type { Meter } from './meter.ts'

/** Adds the counts of all threads to the metrics of the main thread. */
export function registerMetrics(registry: OpenContext<unknown, Record<never, never>>['registry'], meter: Meter): void {
  registerCounter(
    registry,
    'youtube_calls_total',
    'Calls of videos.list, whatever the answer.',
    () => meter.counts.calls,
  )
  registerCounter(registry, 'youtube_ids_total', 'Video ids asked for.', () => meter.counts.ids)
}
