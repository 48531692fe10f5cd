import { openClusterLog } from '@influencer-stats/log/cluster-log'
import { StartError } from '@influencer-stats/runtime/errors'
import { openLogSequencer } from './broker/log-sequencer.ts'
import type { Sequencer, SequencerOptions } from './broker/sequencer.ts'
import { MOST_AT_ONCE } from './broker/threads.ts'
import { createHistoryInMemory } from './history/in-memory.ts'
import type { Context } from './main.ts'
import { historyOptions } from './part-options.ts'

// What an entry of the log holds besides values: topics.
const HEADS = 1_048_576

/** What gives the order where this process is a node of many. @throws StartError */
export async function openNodeSequencer(
  { config, registry, log, fail }: Context,
  options: SequencerOptions,
): Promise<Sequencer> {
  if (config.broker !== 'threads' || config.history === 'level') {
    throw new StartError(
      'SETTINGS_WRONG',
      'sse: with --log jetstream the log gives the order and keeps values: it goes with the broker threads, and with the histories ring and none',
    )
  }
  return openLogSequencer({
    ...options,
    sequenceWaitTimeout: config.sequenceWaitTimeout,
    create: (kept) => createHistoryInMemory(config.history, historyOptions(config, log), kept),
    open: (view) =>
      openClusterLog({
        service: 'sse',
        config,
        registry,
        log,
        fail,
        stateMachine: view,
        storage: config.natsStorage,
        snapshotIntervalBytes: config.snapshotIntervalBytes,
        maxBody: Math.max(MOST_AT_ONCE, config.maxValue) + HEADS,
      }),
  })
}
