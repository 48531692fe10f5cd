import { counter } from '@influencer-stats/runtime/counter'
import { gauge } from '@influencer-stats/runtime/gauge'
import type { Registry } from '@influencer-stats/runtime/prom-client'
import type { Announcer } from './announcer.ts'
import type { Logger } from './logger/logger.ts'
import type { Poller } from './poller.ts'
import type { QuotaMeter } from './quota-meter.ts'

export function reportQuota(meter: QuotaMeter, registry: Registry): void {
  gauge(
    registry,
    'stats_quota_units_used',
    "Units of YouTube's quota used since it was last renewed.",
    () => meter.used,
  )
  gauge(registry, 'stats_quota_units_budget', 'Units that may be used a day; 0 for no limit.', () => meter.budget)
}

export function reportPoller(poller: Poller, registry: Registry): void {
  gauge(registry, 'stats_collections', 'Collections that are refreshed.', () => poller.size)
  gauge(
    registry,
    'stats_collections_stale',
    'Collections whose numbers are older than two intervals.',
    () => poller.stale,
  )
  gauge(
    registry,
    'stats_refresh_interval_seconds',
    'Time from one refresh to the next.',
    () => poller.interval() / 1000,
  )
}

export function reportAnnouncer(announcer: Announcer, registry: Registry): void {
  const { figures } = announcer
  counter(registry, 'stats_puts_total', "Collections' numbers put to the broadcaster.", () => figures.sent)
  counter(registry, 'stats_puts_failed_total', 'Puts that the broadcaster did not take.', () => figures.failed)
  gauge(registry, 'stats_puts_waiting', 'Collections whose numbers wait to be put.', () => announcer.waiting)
}

export function reportLogger(logger: Logger, registry: Registry): void {
  counter(registry, 'stats_log_lines_dropped_total', 'Lines that the logger dropped.', () => logger.dropped)
}
