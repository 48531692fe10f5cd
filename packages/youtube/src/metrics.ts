import { registerCounter } from '@influencer-stats/runtime/counter'
import type { OpenContext } from '@influencer-stats/runtime/service'
import type { Meter } from './meter.ts'

/** Puts the counts of all threads into main's figures. */
export function registerMetrics(registry: OpenContext<unknown, Record<never, never>>['registry'], meter: Meter): void {
  registerCounter(
    registry,
    'youtube_calls_total',
    'Calls of videos.list, whatever the answer.',
    () => meter.counts.calls,
  )
  registerCounter(registry, 'youtube_ids_total', 'Video ids asked for.', () => meter.counts.ids)
}
