import { registerGauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext } from '@influencer-stats/runtime/service'
import type { SettingValues } from '@influencer-stats/runtime/define-settings'
import { openJetStreamLog } from './jetstream/jetstream-log.ts'
import type { JetStreamLogOptions } from './jetstream/options.ts'
import { getStalenessSeconds } from './log-state.ts'
import type { Log } from './log.ts'
import { getServers, type logSettings } from './settings.ts'
import { registerSkippedMessages } from './skipped-messages.ts'
import { createSnapshotScheduler, type SnapshotScheduler } from './snapshot-scheduler.ts'

export interface ClusterLogOptions
  extends
    Pick<OpenContext<SettingValues<typeof logSettings>, Record<never, never>>, 'config' | 'registry' | 'log' | 'fail'>,
    Pick<JetStreamLogOptions, 'service' | 'stateMachine' | 'storage' | 'maxBody' | 'applyTimeout' | 'onState'> {
  /**
   * Size of the entries after the last snapshot at which the next is due (bytes), if the number of sequences requires
   * none earlier.
   */
  readonly snapshotIntervalBytes?: number
}

/**
 * Opens the log of a cluster node according to its settings, with a snapshot scheduler and metrics.
 * Closing the log also closes the scheduler.
 * @throws StartError
 */
export async function openClusterLog({
  service,
  config,
  registry,
  log,
  fail,
  ...rest
}: ClusterLogOptions): Promise<Log> {
  const { stateMachine, storage, snapshotIntervalBytes, maxBody, applyTimeout, onState } = rest
  let appliedBytes = 0
  let snapshotScheduler: SnapshotScheduler | undefined
  const clusterLog = await openJetStreamLog({
    service,
    stream: config.natsStream || service,
    nats: {
      servers: getServers(config),
      credentials: config.natsCredentials,
      nkey: config.natsNkey,
      ca: config.natsCa,
      cert: config.natsCert,
      key: config.natsKey,
    },
    replicas: config.natsReplicas,
    storage,
    stateMachine: {
      getPosition: () => stateMachine.getPosition(),
      apply(entries, position) {
        for (const { body } of entries) appliedBytes += body.length
        return stateMachine.apply(entries, position)
      },
      canLag: () => stateMachine.canLag?.() ?? false,
      snapshot: () => stateMachine.snapshot(),
      restore: (pieces) => stateMachine.restore(pieces),
    },
    log,
    appendTimeout: config.appendTimeout,
    maxBody,
    applyTimeout,
    onSkip: registerSkippedMessages(registry, service),
    onState(state) {
      onState?.(state)
      snapshotScheduler?.onAdvance(state.applied, appliedBytes)
    },
    onFatal: fail,
  })
  // The threads read the state at their first request. Without this call it would be missing for up to one second,
  // because the log reports no state until an entry or a reply about the stream arrives.
  onState?.(clusterLog.state)
  const scheduler = (snapshotScheduler = createSnapshotScheduler({
    log: clusterLog,
    intervalSequences: config.snapshotIntervalEntries,
    intervalBytes: snapshotIntervalBytes,
    logger: log,
  }))
  registerGauge(
    registry,
    `${service}_log_applied`,
    'Sequence of the last entry that this node applied.',
    () => clusterLog.state.applied,
  )
  registerGauge(
    registry,
    `${service}_log_lag`,
    'Known sequences of the log that this node has not applied yet.',
    () => {
      const { applied, known } = clusterLog.state
      return known - applied
    },
  )
  registerGauge(
    registry,
    `${service}_log_staleness_seconds`,
    'Time since this node last knew that it had applied every entry.',
    () => getStalenessSeconds(clusterLog.state),
  )
  return {
    ...clusterLog,
    get state() {
      return clusterLog.state
    },
    async close() {
      await scheduler.close()
      await clusterLog.close()
    },
  }
}
