import { gauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { Sequencer } from './broker/sequencer.ts'
import { Census } from './census.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { historyOptions, lagLimits } from './part-options.ts'
import { parts } from './parts.ts'
import type { SseConfig } from './settings.ts'

/** Opens what exists once per process: the sequencer and the history, where the one thread does not have them. */
export async function openSse(context: OpenContext<SseConfig, ToThread>): Promise<Opened<ToMain>> {
  const { config, broadcast, log } = context
  const census = new Census((round) => broadcast('count', round))
  if (config.broker === 'local') {
    const shared = (): Shared => ({ streams: census.cell, kept: undefined })
    return { shared, handlers: {} as never, async close() {} }
  }

  const history = await parts.history[config.history](historyOptions(config))
  const sequencer = new Sequencer({
    history,
    lag: lagLimits(config),
    deliver: (entries) => broadcast('deliver', entries),
  })
  gauge(context.registry, 'sse_lag_values', 'Values put and not yet with every thread.', () => sequencer.lag)
  let started = 0

  return {
    shared(): Shared {
      // The first threads have nothing to count; one that is started later stands in for one that died.
      if (++started > 1) census.recount().catch((error: unknown) => log.error({ err: error }, 'streams not counted'))
      return { streams: census.cell, kept: history.kept() }
    },
    handlers: {
      publish: (puts) => sequencer.publish(puts),
      closeAll: () => sequencer.closeAll(),
      // What was delivered to any thread was posted to this one before this answer.
      catchUp() {},
      connections: () => census.take(),
      counted: (round, count) => census.counted(round, count),
    },
    close: () => sequencer.close(),
  }
}
