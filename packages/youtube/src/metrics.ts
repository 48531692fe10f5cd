import { registerCounter } from '@influencer-stats/runtime/counter'
import type { OpenContext } from '@influencer-stats/runtime/service'
import type { Meter } from './meter.ts'

/** Adds the counts of all threads to the metrics of the main thread. */
export function registerMetrics(registry: OpenContext<unknown, Record<never, never>>['registry'], meter: Meter): void {
  registerCounter(
    registry,
    'youtube_calls_total',
    'Calls of videos.list, including failed ones.',
    () => meter.counts.calls,
  )
  registerCounter(registry, 'youtube_ids_total', 'Requested video ids.', () => meter.counts.ids)
}
