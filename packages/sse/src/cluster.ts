import { openClusterLog } from '@influencer-stats/log/cluster-log'
import { createLogStateMemory } from '@influencer-stats/log/log-state'
import { StartError } from '@influencer-stats/runtime/errors'
import type { ServiceMain } from '@influencer-stats/runtime/service'
import { openSequencer } from './broker/sequencer.ts'
import { MAX_BATCH_BYTES } from './broker/threads-broker.ts'
import { createMemoryHistory } from './history/memory-history.ts'
import type { SseMainMessage } from './messages.ts'
import { openMain, type CommonSequencerOptions, type SseMainContext } from './open-main.ts'
import { getHistoryOptions } from './part-options.ts'

// Maximum size of the topics and optional fields in a log entry (bytes). The values are not included.
const MAX_HEAD_BYTES = 1_048_576

/** Opens the main thread of a cluster node. @throws StartError */
export async function openCluster(context: SseMainContext): Promise<ServiceMain<SseMainMessage>> {
  const { config, registry, log, fail } = context
  if (config.broker !== 'threads' || config.history === 'level') {
    throw new StartError(
      'SETTINGS_WRONG',
      'sse: with --cluster the log orders and stores the values: use the broker threads, and the history ring or none',
    )
  }
  const logState = createLogStateMemory()
  const open = (options: CommonSequencerOptions) =>
    openSequencer({
      ...options,
      isPaced: true,
      createHistory: (state) => createMemoryHistory(config.history, getHistoryOptions(config, log), state),
      openLog: (stateMachine) =>
        openClusterLog({
          service: 'sse',
          config,
          registry,
          log,
          fail,
          stateMachine,
          memory: logState,
          // The threads have a history with the epoch of the log.
          restartsToJoin: true,
          storage: config.natsStorage,
          snapshotIntervalBytes: config.snapshotIntervalBytes,
          maxBody: Math.max(MAX_BATCH_BYTES, config.maxValue) + MAX_HEAD_BYTES,
        }),
    })
  return openMain(context, open, logState)
}
