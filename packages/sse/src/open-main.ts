import { coalesceCalls } from '@influencer-stats/runtime/async/single-flight'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext, ServiceMain } from '@influencer-stats/runtime/service'
import { AnsweredSeq } from './broker/answered-seq.ts'
import type { Sequencer, SequencerOptions } from './broker/sequencer.ts'
import { summarize } from './hub/connection-counts.ts'
import { SlotTable } from './hub/stream-slots.ts'
import type { SseSharedState, SseMainMessage, SseThreadMessage } from './messages.ts'
import { getBacklogLimits } from './part-options.ts'
import type { SseConfig } from './settings.ts'
import { checkKeySettings } from './tokens/key-ring.ts'
import { reportRelaxedRules } from './tokens/relaxed-rules.ts'

export type SseMainContext = OpenContext<SseConfig, SseThreadMessage>

/** Options of a sequencer that are the same in both modes. */
export type CommonSequencerOptions = Pick<SequencerOptions, 'backlogLimits' | 'sequenceWaitTimeout' | 'deliver'>

/**
 * Opens the state that exists once per process: the stream slots, and the sequencer with the history.
 * @param open opens the sequencer; undefined if the only serving thread has its own sequencer and history
 * @param logState memory of the state of the log, on a node of a cluster
 */
export async function openMain(
  { config, log, registry, broadcast }: SseMainContext,
  open: ((options: CommonSequencerOptions) => Promise<Sequencer>) | undefined,
  logState?: SharedArrayBuffer,
): Promise<ServiceMain<SseMainMessage>> {
  // Checks the keys of access tokens now, so that an error is reported once and not by each thread.
  checkKeySettings(config)
  reportRelaxedRules(config, log)
  const slots = new SlotTable()
  const answered = new AnsweredSeq()
  const sequencer = await open?.({
    backlogLimits: getBacklogLimits(config),
    sequenceWaitTimeout: config.sequenceWaitTimeout,
    deliver(entries) {
      answered.set(entries.at(-1)!.seq)
      return broadcast('deliver', entries)
    },
  })
  if (sequencer) answered.set(sequencer.history.seq)
  const common: Omit<ServiceMain<SseMainMessage>, 'close'> = {
    shared: (): SseSharedState => ({
      slots: slots.share(),
      answered: answered.memory,
      health: sequencer?.history.level?.memory,
      historyState: sequencer?.history.getState(),
      logState,
    }),
    onThreadExit: (shared) => slots.release((shared as SseSharedState).slots),
  }
  if (!sequencer) return { ...common, async close() {} }

  registerGauge(
    registry,
    'sse_fanout_backlog',
    'Published values that have not reached every thread yet.',
    () => sequencer.backlogSize,
  )
  const connections = coalesceCalls(async () => {
    const largest = await broadcast('largestTopics')
    return summarize(await broadcast('count', [...new Set(largest.flat())]))
  })
  return {
    ...common,
    backupSource: sequencer.backupSource,
    handlers: {
      publish: (puts, bytes) => sequencer.publish(puts, bytes),
      importEvents: (events) => sequencer.importEvents(events),
      closeAll: () => sequencer.closeAll(),
      // The calling thread receives all delivered values before this reply, because messages arrive in order.
      catchUp: () => sequencer.catchUp(),
      connections,
      subscriptions: async () => (await broadcast('listSubscriptions')).flat(),
    },
    close: () => sequencer.close(),
  }
}
