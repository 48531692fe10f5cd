import { gauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, Opened } from '@influencer-stats/runtime/service'
import { Sequencer } from './broker/sequencer.ts'
import type { Shared, ThreadCount, ToMain, ToThread } from './messages.ts'
import { historyOptions, lagLimits } from './part-options.ts'
import { parts } from './parts.ts'
import type { SseConfig } from './settings.ts'

/** Opens what exists once per process: the sequencer and the history, where the one thread does not have them. */
export async function openSse(context: OpenContext<SseConfig, ToThread>): Promise<Opened<ToMain>> {
  const { config, broadcast, log } = context
  const streams = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  if (config.broker === 'local') {
    const shared = (): Shared => ({ streams, kept: undefined })
    return { shared, handlers: {} as never, async close() {} }
  }

  const history = await parts.history[config.history](historyOptions(config, log))
  const sequencer = new Sequencer({
    history,
    lag: lagLimits(config),
    deliver: (entries) => broadcast('deliver', entries),
  })
  gauge(context.registry, 'sse_lag_values', 'Values put and not yet with every thread.', () => sequencer.lag)
  const connections = async (): Promise<ThreadCount[]> => (await broadcast('count')).sort((a, b) => a.thread - b.thread)
  let started = 0

  /** A thread that died took its streams along without counting them off. */
  async function recount(): Promise<void> {
    const counts = await connections()
    const sum = counts.reduce((all, count) => all + count.streams, 0)
    Atomics.store(new Int32Array(streams), 0, sum)
  }

  return {
    shared(): Shared {
      // The first threads have nothing to count; one that is started later stands in for one that died.
      if (++started > 1) recount().catch((error: unknown) => log.error({ err: error }, 'streams not counted'))
      return { streams, health: history.level?.memory, kept: history.kept() }
    },
    handlers: {
      publish: (puts) => sequencer.publish(puts),
      closeAll: () => sequencer.closeAll(),
      // What was delivered to any thread was posted to this one before this answer.
      catchUp() {},
      connections,
    },
    close: () => sequencer.close(),
  }
}
