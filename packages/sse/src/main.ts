import { registerGauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { LocalSequencer } from './broker/local-sequencer.ts'
import type { Sequencer, SequencerOptions } from './broker/sequencer.ts'
import { oneAtATime, summarize } from './connections.ts'
import type { Shared, ToMain, ToThread } from './messages.ts'
import { historyOptions, lagLimits } from './part-options.ts'
import { parts } from './parts.ts'
import { PlaceTable } from './places.ts'
import type { SseConfig } from './settings.ts'
import { createAccessTokens } from './tokens/access-tokens.ts'

export type Context = OpenContext<SseConfig, ToThread>

/** Opens what exists once per process: the sequencer and the history, where the one thread does not have them. */
export async function openSse(context: Context): Promise<ServiceMain<ToMain>> {
  const { config, broadcast } = context
  // Told now, in one line, rather than by each thread.
  await createAccessTokens(config, false)
  const places = new PlaceTable()
  const threadGone = (shared: unknown) => places.gone((shared as Shared).places)
  if (config.broker === 'local' && config.log === 'local') {
    const shared = (): Shared => ({ places: places.share(), kept: undefined })
    return { shared, onThreadExit: threadGone, handlers: {} as never, async close() {} }
  }

  const sequencer = await openSequencer(context)
  const { history } = sequencer
  registerGauge(context.registry, 'sse_lag_values', 'Values put and not yet with every thread.', () => sequencer.lag)
  const connections = oneAtATime(async () => {
    const largest = await broadcast('largestTopics')
    return summarize(await broadcast('count', [...new Set(largest.flat())]))
  })

  return {
    backupSource: history.level,
    shared: (): Shared => ({ places: places.share(), health: history.level?.memory, kept: history.kept() }),
    onThreadExit: threadGone,
    handlers: {
      publish: (puts) => sequencer.publish(puts),
      closeAll: () => sequencer.closeAll(),
      // What was delivered was posted to this thread before this answer.
      catchUp: () => sequencer.catchUp(),
      connections,
    },
    close: () => sequencer.close(),
  }
}

async function openSequencer(context: Context): Promise<Sequencer> {
  const { config, broadcast, log } = context
  const options: SequencerOptions = {
    lag: lagLimits(config),
    deliver: (entries) => broadcast('deliver', entries),
  }
  if (config.log === 'jetstream') return (await import('./node.ts')).openNodeSequencer(context, options)
  return new LocalSequencer({ ...options, history: await parts.history[config.history](historyOptions(config, log)) })
}
