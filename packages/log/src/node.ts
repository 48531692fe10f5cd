import { gauge } from '@influencer-stats/runtime/gauge'
import type { OpenContext } from '@influencer-stats/runtime/service'
import type { ValuesOf } from '@influencer-stats/runtime/settings'
import type { JetStreamLogOptions } from './jetstream/options.ts'
import { silenceOf } from './log-state.ts'
import type { Log, LogState, View } from './log.ts'
import { logs } from './parts.ts'
import type { logSettings } from './settings.ts'
import { keepSnapshots, type SnapshotKeeper } from './snapshot-keeper.ts'

export interface NodeOptions extends Pick<
  OpenContext<ValuesOf<typeof logSettings>, Record<never, never>>,
  'config' | 'registry' | 'log' | 'fail'
> {
  /** Whose log it is. */
  readonly service: string
  readonly view: View
  /** A snapshot is taken after so many bytes of entries, too. */
  readonly snapshotIntervalBytes?: number
  /** Where the servers keep the log: by default on their disks. */
  readonly storage?: JetStreamLogOptions['storage']
  /** Largest body that is appended (bytes); by default a MiB. */
  readonly maxBody?: number
  /** Once the log has it, an append waits for the view for so long (ms); by default until `appendTimeout` is over. */
  readonly viewTimeout?: number
  /** Told whenever anything of it has changed. */
  onState?(state: LogState): void
}

/**
 * Makes a service one node of many, as its settings say: the log, snapshots of the view beside it, and their figures.
 * Closing the log ends all of it.
 * @throws StartError
 */
export async function openNode({ service, config, registry, log, fail, ...given }: NodeOptions): Promise<Log> {
  const { view, storage, snapshotIntervalBytes, maxBody, viewTimeout, onState } = given
  let bytes = 0
  let snapshots: SnapshotKeeper | undefined
  const opened = await logs.jetstream({
    service,
    stream: config.natsStream || service,
    nats: {
      servers: config.natsUrl,
      credentials: config.natsCredentials,
      nkey: config.natsNkey,
      ca: config.natsCa,
      cert: config.natsCert,
      key: config.natsKey,
    },
    replicas: config.natsReplicas,
    storage,
    view: {
      position: () => view.position(),
      apply(entries, position) {
        for (const { body } of entries) bytes += body.length
        return view.apply(entries, position)
      },
      mayLag: () => view.mayLag?.() ?? false,
      snapshot: () => view.snapshot(),
      restore: (pieces) => view.restore(pieces),
    },
    log,
    appendTimeout: config.appendTimeout,
    maxBody,
    viewTimeout,
    onState(state) {
      onState?.(state)
      snapshots?.advanced(state.applied, bytes)
    },
    onFatal: fail,
  })
  // Threads read the state from the first request on, and a log without new entries reports none for a second.
  onState?.(opened.state)
  const keeper = (snapshots = keepSnapshots({
    log: opened,
    every: config.snapshotIntervalEntries,
    everyBytes: snapshotIntervalBytes,
    logger: log,
  }))
  gauge(
    registry,
    `${service}_log_applied`,
    'The place in the log up to which this node has applied it.',
    () => opened.state.applied,
  )
  gauge(registry, `${service}_log_lag`, 'Places in the log that are known to exist and are not applied yet.', () => {
    const { applied, known } = opened.state
    return known - applied
  })
  gauge(registry, `${service}_log_silence_seconds`, 'For how long this node has not had all of the log.', () =>
    silenceOf(opened.state),
  )
  return {
    ...opened,
    get state() {
      return opened.state
    },
    async close() {
      await keeper.close()
      await opened.close()
    },
  }
}
