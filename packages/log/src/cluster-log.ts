import type { SnapshotSource } from '@influencer-stats/runtime/backup-source'
import { registerGauge } from '@influencer-stats/runtime/gauge'
import { steadyNow } from '@influencer-stats/runtime/steady-clock'
import type { OpenContext } from '@influencer-stats/runtime/service'
import type { SettingValues } from '@influencer-stats/runtime/define-settings'
import { openJetStreamLog, type JetStreamLog } from './jetstream/jetstream-log.ts'
import { createBackupSource } from './backup-source.ts'
import type { JetStreamLogOptions } from './jetstream/options.ts'
import { registerAvailability, registerServers, registerSkippedMessages } from './log-metrics.ts'
import { getSharedAvailability, getSharedLogServers, getStalenessSeconds, writeLogState } from './log-state.ts'
import { getServers, getStreamName, type logSettings } from './settings.ts'
import { createSnapshotScheduler, type SnapshotScheduler } from './snapshot-scheduler.ts'

export interface ClusterLogOptions
  extends
    Pick<OpenContext<SettingValues<typeof logSettings>, Record<never, never>>, 'config' | 'registry' | 'log' | 'fail'>,
    Pick<JetStreamLogOptions, 'service' | 'stateMachine' | 'storage' | 'maxBody' | 'applyTimeout' | 'restartsToJoin'> {
  /** Memory in which the threads read the state and the availability of the log (`createLogStateMemory`). */
  readonly memory: SharedArrayBuffer
  /**
   * Size of the entries after the last snapshot at which the next is due (bytes), if the number of sequences requires
   * none earlier.
   */
  readonly snapshotIntervalBytes?: number
}

export interface ClusterLog extends JetStreamLog {
  /** Source of the backups of this node. */
  readonly backupSource: SnapshotSource
}

/**
 * Opens the log of a cluster node according to its settings, with a snapshot scheduler and metrics. Resolves also if the
 * log is unavailable: the node then serves reads, and attaches to the log later. Closing the log also closes the
 * scheduler.
 * @throws StartError if the settings are wrong
 */
export async function openClusterLog({
  service,
  config,
  registry,
  log,
  fail,
  ...rest
}: ClusterLogOptions): Promise<ClusterLog> {
  const { stateMachine, storage, snapshotIntervalBytes, maxBody, applyTimeout, restartsToJoin, memory } = rest
  const availability = getSharedAvailability(memory)
  const sharedServers = getSharedLogServers(memory)
  const stream = getStreamName(config, service)
  sharedServers.write({ stream, servers: [] })
  let appliedBytes = 0
  let snapshotScheduler: SnapshotScheduler | undefined
  const clusterLog = await openJetStreamLog({
    service,
    stream,
    cluster: config.clusterName,
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
    restartsToJoin,
    onSkip: registerSkippedMessages(registry, service),
    onState(state) {
      writeLogState(memory, state)
      snapshotScheduler?.onAdvance(state.applied, appliedBytes)
    },
    onServers: (servers) => sharedServers.write(servers, steadyNow()),
    onAvailability(next, isEmpty) {
      availability.write(next)
      availability.isEmpty = isEmpty
    },
    onFatal: fail,
  })
  // The threads read the state at their first request. Without this call it would be missing for up to one second,
  // because the log reports no state until an entry or a reply about the stream arrives.
  writeLogState(memory, clusterLog.state)
  registerAvailability(registry, service, () => clusterLog.availability)
  registerServers(registry, service, () => sharedServers.read())
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
  return Object.create(clusterLog, {
    backupSource: { value: createBackupSource(service, stateMachine) },
    close: {
      async value() {
        await scheduler.close()
        await clusterLog.close()
      },
    },
  })
}
