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

/** Whether numbers are YouTube's own, or those of something that stands in for it. */
export function reportSource(youtubeUri: string, registry: Registry): void {
  const isYouTube = /(^|\.)googleapis\.com$/.test(URL.parse(youtubeUri)?.hostname ?? '')
  gauge(
    registry,
    'stats_source_is_youtube',
    '1 where numbers are those of YouTube, 0 where they are of a stand-in.',
    () => Number(isYouTube),
  )
}

export function reportPoller(poller: Poller, registry: Registry): void {
  gauge(registry, 'stats_collections', 'Collections that are refreshed.', () => poller.board.size)
  gauge(
    registry,
    'stats_collections_stale',
    'Collections whose numbers are older than two intervals.',
    () => poller.board.stale,
  )
  gauge(
    registry,
    'stats_refresh_interval_seconds',
    'Time from one refresh to the next.',
    () => poller.interval() / 1000,
  )
}

/** @param announcer the one there is at present: where there are other nodes, only the one that asks YouTube has one */
export function reportAnnouncer(announcer: () => Announcer | undefined, registry: Registry): void {
  const figure = (name: keyof Announcer['figures']) => announcer()?.figures[name] ?? 0
  counter(registry, 'stats_puts_total', "Collections' numbers put to the broadcaster.", () => figure('sent'))
  counter(registry, 'stats_puts_failed_total', 'Puts that the broadcaster did not take.', () => figure('failed'))
  gauge(registry, 'stats_puts_waiting', 'Collections whose numbers wait to be put.', () => announcer()?.waiting ?? 0)
}

/** Which node it is that asks YouTube, of main. */
export function reportPolling(isPolling: () => boolean, registry: Registry): void {
  gauge(registry, 'stats_polling', '1 on the one node that asks YouTube, 0 on the others.', () => Number(isPolling()))
}

export function reportLogger(logger: Logger, registry: Registry): void {
  counter(registry, 'stats_log_lines_dropped_total', 'Lines that the logger dropped.', () => logger.dropped)
}
