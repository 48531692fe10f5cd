import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { LocalSequencer } from './broker/local-sequencer.ts'
import type { Sequencer, SequencerOptions } from './broker/sequencer.ts'
import { summarize } from './hub/connection-counts.ts'
import type { SseSharedState, SseMainMessage, SseThreadMessage } from './messages.ts'
import { getHistoryOptions, getBacklogLimits } from './part-options.ts'
import { parts } from './parts.ts'
import { SlotTable } from './hub/stream-slots.ts'
import type { SseConfig } from './settings.ts'
import { createAccessTokens } from './tokens/access-tokens.ts'

export type SseMainContext = OpenContext<SseConfig, SseThreadMessage>

/**
 * Opens the state that exists once per process: the stream slots, the sequencer and the history. With the broker
 * `local`, the only serving thread has its own sequencer and history.
 */
export async function openSse(
  context: SseMainContext,
  openSequencer: typeof openLocalSequencer = openLocalSequencer,
): Promise<ServiceMain<SseMainMessage>> {
  const { config, broadcast } = context
  // Checks the keys of access tokens now, so that an error is reported once and not by each thread.
  await createAccessTokens(config, false)
  const slots = new SlotTable()
  const onThreadExit = (shared: unknown) => slots.release((shared as SseSharedState).slots)
  if (config.broker === 'local' && config.log === 'local') {
    const shared = (): SseSharedState => ({ slots: slots.share(), historyState: undefined })
    return { shared, onThreadExit, handlers: {} as never, async close() {} }
  }

  const sequencer = await openSequencer(context, {
    backlogLimits: getBacklogLimits(config),
    deliver: (entries) => broadcast('deliver', entries),
  })
  const { history } = sequencer
  registerGauge(
    context.registry,
    'sse_fanout_backlog',
    'Published values that have not reached every thread yet.',
    () => sequencer.backlogSize,
  )
  const connections = coalesceCalls(async () => {
    const largest = await broadcast('largestTopics')
    return summarize(await broadcast('count', [...new Set(largest.flat())]))
  })

  return {
    backupSource: history.level,
    shared: (): SseSharedState => ({
      slots: slots.share(),
      health: history.level?.memory,
      historyState: history.getState(),
    }),
    onThreadExit,
    handlers: {
      publish: (puts) => sequencer.publish(puts),
      closeAll: () => sequencer.closeAll(),
      // The calling thread receives all delivered values before this reply, because messages arrive in order.
      catchUp: () => sequencer.catchUp(),
      connections,
    },
    close: () => sequencer.close(),
  }
}

async function openLocalSequencer({ config, log }: SseMainContext, options: SequencerOptions): Promise<Sequencer> {
  return new LocalSequencer({
    ...options,
    history: await parts.history[config.history](getHistoryOptions(config, log)),
  })
}
