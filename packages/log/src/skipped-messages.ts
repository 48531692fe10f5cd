import { Counter, type Registry } from '@influencer-stats/runtime/prom-client'
import type { SkipReason } from './order/frame-assembler.ts'

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
