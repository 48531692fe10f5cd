import { registerCounter } from '@influencer-stats/runtime/counter'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { Gauge, type Registry } from '@influencer-stats/runtime/prom-client'
import type { Hub } from './hub/hub.ts'

/**
 * Registers the metrics of a thread's streams.
 * @param topics topics with their own metric; clients can create any number of topics, so not all have one
 */
export function registerHubMetrics(hub: Hub, registry: Registry, topics: readonly string[]): void {
  const { metrics } = hub
  registerGauge(registry, 'sse_streams', 'Open streams.', () => hub.size)
  registerCounter(
    registry,
    'sse_events_total',
    'Values received by serving threads. A value counts once per thread.',
    () => metrics.events,
  )
  registerCounter(
    registry,
    'sse_deliveries_total',
    'Values written to streams, without replayed ones.',
    () => metrics.deliveries,
  )
  registerCounter(
    registry,
    'sse_bytes_total',
    'Bytes written to streams, without replayed values.',
    () => metrics.bytes,
  )
  registerGauge(
    registry,
    'sse_unread_bytes',
    'Memory of values that clients of streams have not read.',
    () => hub.unreadBytes,
  )
  registerCounter(
    registry,
    'sse_streams_cut_total',
    'Streams that were closed because their clients read too slowly, or because memory was low.',
    () => metrics.cut,
  )
  registry.registerMetric(
    new Gauge({
      name: 'sse_topic_streams',
      help: 'Open streams by topic, for the topics in metricTopics. (others) counts a stream once for each of its other topics and prefixes.',
      labelNames: ['topic'],
      registers: [],
      collect() {
        let otherStreams = hub.topics.total
        for (const topic of topics) {
          const streams = hub.topics.getCount(topic)
          this.set({ topic }, streams)
          otherStreams -= streams
        }
        this.set({ topic: '(others)' }, otherStreams)
      },
    }),
  )
}
