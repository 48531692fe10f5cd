import { StorageType, type JetStreamAccountStats, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream'
import { PEER_TIMEOUT_MS } from './quorum.ts'
import type { LogServer, LogServers } from '../../status/log-servers.ts'

/** Number of reports about the stream, one per second, after which the limits of the account are requested again. */
const ACCOUNT_INTERVAL_REPORTS = 60
/** Maximum length of the name of a server, which the operator chooses. */
const MAX_NAME_LENGTH = 128

export interface ServerReporterOptions {
  readonly jsm: JetStreamManager
  /** Returns the name of the server that responds: a server without a cluster reports no name. */
  getServerName(): string | undefined
  onServers(servers: LogServers): void
}

/** Describes the servers of a log after each report about its stream. */
export function createServerReporter({ jsm, getServerName, onServers }: ServerReporterOptions) {
  let account: JetStreamAccountStats | undefined
  let reports = 0
  return (info: StreamInfo): void => {
    if (reports++ % ACCOUNT_INTERVAL_REPORTS === 0)
      jsm.getAccountInfo().then(
        (found) => void (account = found),
        // The user may not have the right to read them.
        () => void (account = undefined),
      )
    onServers(toLogServers(info, { account, name: getServerName(), now: Date.now() }))
  }
}

/** @param now time of the report (ms since 1970) */
export function toLogServers(
  { config, state, cluster }: Pick<StreamInfo, 'config' | 'state' | 'cluster'>,
  { account, name, now }: { account?: JetStreamAccountStats | undefined; name?: string | undefined; now: number },
): LogServers {
  const observedAt = new Date(now).toISOString()
  const leader = cluster?.leader ?? name
  return {
    stream: config.name,
    servers: [
      ...(leader === undefined
        ? []
        : [{ name: truncate(leader), role: 'leader', state: 'current', lag: 0, lastContactAt: observedAt } as const]),
      ...(cluster?.replicas ?? []).map((replica) => toReplica(replica, now)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    ],
    bytes: state.bytes,
    ...toLimit(config, state.bytes, account),
    observedAt,
  }
}

type Peer = NonNullable<NonNullable<StreamInfo['cluster']>['replicas']>[number]

function toReplica({ name, current, offline, active, lag = 0 }: Peer, now: number): LogServer {
  const silentMs = active / 1e6
  const isOffline = offline || silentMs > PEER_TIMEOUT_MS
  // The leader reports 0 for a server that it has not seen since its election.
  const isSeen = active > 0
  return {
    name: truncate(name),
    role: 'replica',
    state: isOffline ? 'offline' : current ? 'current' : 'behind',
    lag,
    ...(isSeen && { lastContactAt: new Date(now - silentMs).toISOString() }),
  }
}

function toLimit(
  { max_bytes, storage, num_replicas }: StreamInfo['config'],
  bytes: number,
  account: JetStreamAccountStats | undefined,
): Pick<LogServers, 'limit'> {
  if (max_bytes > 0) return { limit: { scope: 'stream', usedBytes: bytes, maxBytes: max_bytes } }
  const usage = account?.tiers?.[`R${num_replicas}`] ?? account
  if (!usage) return {}
  const isMemory = storage === StorageType.Memory
  const maxBytes = isMemory ? usage.limits.max_memory : usage.limits.max_storage
  if (maxBytes < 0) return { limit: { scope: 'none' } }
  return { limit: { scope: 'account', usedBytes: isMemory ? usage.memory : usage.storage, maxBytes } }
}

const truncate = (name: string): string => name.slice(0, MAX_NAME_LENGTH)
