import { registerGauge } from '@influencer-stats/runtime/gauge'
import { Counter, Gauge, type Registry } from '@influencer-stats/runtime/prom-client'
import { UNAVAILABLE_CODES, type LogAvailability } from './availability.ts'
import type { SkipReason } from './order/frame-assembler.ts'
import type { LogServers } from './status/log-servers.ts'

const REASONS: readonly SkipReason[] = ['foreign', 'damaged', 'torn']

/** Registers the counter of skipped messages. Returns a function that adds to it. */
export function registerSkippedMessages(
  registry: Registry,
  service: string,
): (reason: SkipReason, count: number) => void {
  const counter = new Counter({
    name: `${service}_log_skipped_messages_total`,
    help: 'Messages of the log that every node skips, because they are no part of a frame.',
    labelNames: ['reason'],
    registers: [],
  })
  // A series that starts at 0 lets an alert see the first message.
  for (const reason of REASONS) counter.inc({ reason }, 0)
  registry.registerMetric(counter)
  return (reason, count) => counter.inc({ reason }, count)
}

/** Registers the availability of the log, and the reason of an outage. */
export function registerAvailability(
  registry: Registry,
  service: string,
  getAvailability: () => LogAvailability,
): void {
  registerGauge(registry, `${service}_log_available`, 'If this node can write to the log: 1, otherwise 0.', () =>
    getAvailability().code === 'READY' ? 1 : 0,
  )
  registry.registerMetric(
    new Gauge({
      name: `${service}_log_unavailable`,
      help: 'Reason why this node cannot write to the log: 1 for the present one.',
      labelNames: ['code'],
      registers: [],
      collect() {
        const { code } = getAvailability()
        for (const one of UNAVAILABLE_CODES) this.set({ code: one }, one === code ? 1 : 0)
      },
    }),
  )
}

const SERVER_STATES = ['current', 'behind', 'offline', 'unknown'] as const

/** Registers the number of servers in each state. Without a report of the servers there is no series. */
export function registerServers(registry: Registry, service: string, getServers: () => LogServers | undefined): void {
  registry.registerMetric(
    new Gauge({
      name: `${service}_log_servers`,
      help: 'NATS servers of the log, by their state.',
      labelNames: ['state'],
      registers: [],
      collect() {
        const { servers = [] } = getServers() ?? {}
        if (servers.length === 0) return
        for (const one of SERVER_STATES) this.set({ state: one }, servers.filter(({ state }) => state === one).length)
      },
    }),
  )
}
