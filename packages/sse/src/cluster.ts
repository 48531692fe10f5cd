import { openClusterLog } from '@influencer-stats/log/cluster-log'
import { StartError } from '@influencer-stats/runtime/errors'
import { openLogSequencer } from './broker/log-sequencer.ts'
import type { Sequencer, SequencerOptions } from './broker/sequencer.ts'
import { MAX_BATCH_BYTES } from './broker/threads-broker.ts'
import { createMemoryHistory } from './history/memory-history.ts'
import type { SseMainContext } from './standalone.ts'
import { getHistoryOptions } from './part-options.ts'

// Maximum size of the topics and optional fields in a log entry (bytes). The values are not included.
const MAX_HEAD_BYTES = 1_048_576

/** Opens the sequencer of a cluster node. @throws StartError */
export async function openClusterSequencer(
  { config, registry, log, fail }: SseMainContext,
  options: SequencerOptions,
): Promise<Sequencer> {
  if (config.broker !== 'threads' || config.history === 'level') {
    throw new StartError(
      'SETTINGS_WRONG',
      'sse: with --log jetstream the log orders and stores the values: use the broker threads, and the history ring or none',
    )
  }
  return openLogSequencer({
    ...options,
    sequenceWaitTimeout: config.sequenceWaitTimeout,
    create: (state) => createMemoryHistory(config.history, getHistoryOptions(config, log), state),
    open: (stateMachine) =>
      openClusterLog({
        service: 'sse',
        config,
        registry,
        log,
        fail,
        stateMachine,
        storage: config.natsStorage,
        snapshotIntervalBytes: config.snapshotIntervalBytes,
        maxBody: Math.max(MAX_BATCH_BYTES, config.maxValue) + MAX_HEAD_BYTES,
      }),
  })
}
