import { registerCounter } from '@influencer-stats/runtime/counter'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { Counter, Gauge, type Registry } from '@influencer-stats/runtime/prom-client'
import type { NodeState } from './cluster/node-state.ts'
import type { UpstreamState } from './core/upstream-state.ts'
import type { SsePublisher } from './publish/sse-publisher.ts'
import type { StatsLogger } from './logger/logger.ts'
import type { Poller } from './refresh/poller.ts'
import type { QuotaMeter } from './quota/quota-meter.ts'

export function reportQuota(meter: QuotaMeter, registry: Registry): void {
  registerGauge(
    registry,
    'stats_quota_units_used',
    'Used units of the YouTube quota since its last reset.',
    () => meter.used,
  )
  registerGauge(
    registry,
    'stats_quota_units_budget',
    'Maximum quota per day (units); 0 for no limit.',
    () => meter.budget,
  )
  registry.registerMetric(
    new Counter({
      name: 'stats_quota_units_total',
      help: 'Used units of the YouTube quota by kind of call. The count begins at 0 with each reset of the quota.',
      labelNames: ['kind'],
      registers: [],
      collect() {
        this.reset()
        for (const [kind, units] of Object.entries(meter.usedByKind)) this.inc({ kind }, units)
      },
    }),
  )
}

export function reportPoller(poller: Poller, registry: Registry): void {
  registerGauge(registry, 'stats_collections', 'Collections that are refreshed.', () => poller.replyTable.size)
  registerGauge(
    registry,
    'stats_collections_stale',
    'Collections whose numbers are older than two refresh intervals.',
    () => poller.replyTable.staleCount,
  )
  registerGauge(
    registry,
    'stats_refresh_interval_seconds',
    'Time between two refreshes of a number.',
    () => poller.getInterval() / 1000,
  )
}

/** @param getPublisher returns the current publisher: in a cluster only the polling node has one */
export function reportSsePublisher(getPublisher: () => SsePublisher | undefined, registry: Registry): void {
  const getCounter = (name: keyof SsePublisher['counters']) => getPublisher()?.counters[name] ?? 0
  registerCounter(registry, 'stats_publish_total', 'Numbers of collections published to sse.', () => getCounter('sent'))
  registerCounter(registry, 'stats_publish_failed_total', 'Numbers that sse did not accept.', () =>
    getCounter('failed'),
  )
  registerGauge(
    registry,
    'stats_publish_waiting',
    'Collections with numbers to publish.',
    () => getPublisher()?.pending ?? 0,
  )
}

/** Reports if this node of a cluster is the poller, and if its source differs from the source of the cluster. */
export function reportNode(state: () => NodeState, registry: Registry): void {
  registerGauge(registry, 'stats_poller_leader', '1 on the node that polls YouTube, 0 on the others.', () =>
    Number(state().polling),
  )
  registerGauge(
    registry,
    'stats_source_mismatch',
    '1 if this node has another source than the cluster: it never polls YouTube.',
    () => Number(state().sourceMismatch !== undefined),
  )
}

export function reportLogger(logger: StatsLogger, registry: Registry): void {
  registerCounter(registry, 'stats_log_lines_dropped_total', 'Lines that the logger dropped.', () => logger.dropped)
}

const isOutage = ({ state }: UpstreamState) => state === 'failing' || state === 'paused'

/** Reports outages. The reason and the API key are labels, so that an alert shows them. */
export function reportUpstream(state: () => UpstreamState, registry: Registry): void {
  registerGauge(registry, 'stats_upstream_available', '0 while calls to YouTube fail or pause, otherwise 1.', () =>
    Number(!isOutage(state())),
  )
  registry.registerMetric(
    new Gauge({
      name: 'stats_upstream_outage',
      help: '1 while calls to YouTube fail or pause. Label `key`: last four characters of the API key.',
      labelNames: ['state', 'reason', 'key'],
      registers: [],
      collect() {
        this.reset()
        const upstream = state()
        const { state: outage, reason = 'none', key = '' } = upstream
        if (isOutage(upstream)) this.set({ state: outage, reason, key }, 1)
      },
    }),
  )
}
