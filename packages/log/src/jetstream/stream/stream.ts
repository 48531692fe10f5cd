import { StartError } from '@influencer-stats/runtime/errors'
import {
  JetStreamApiError,
  jetstreamManager,
  StorageType,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { setTimeout as delay } from 'node:timers/promises'
import type { LogFork } from '../../log.ts'
import { FORMAT_VERSION } from '../../order/frame.ts'
import type { JetStreamLogOptions } from '../options.ts'
import { LogLostError, RETRY_INTERVAL_MS } from './verify-stream.ts'
import { isNoResponders } from './no-responders.ts'
import { checkQuorum } from './quorum.ts'

export type StreamOptions = Pick<JetStreamLogOptions, 'service' | 'stream' | 'cluster' | 'replicas' | 'storage'>

export interface LogStreamOptions extends StreamOptions {
  /** Maximum time until JetStream is ready (ms). */
  readonly timeout: number
  /** True if this node creates a missing stream: it has no state that another stream contains. */
  readonly canCreate: boolean
  readonly signal: AbortSignal
  /** Called after each failure that is retried. */
  onRetry(error: StartError): void
}

/** Position of the node from whose state a stream continues. The stream itself has no entry before. */
export interface LogAncestor extends LogFork {
  /** Earlier logs that the log of that node continued, newest first. */
  readonly ancestors?: readonly LogFork[] | undefined
}

/** Number of earlier logs whose nodes can still join: they load a snapshot. */
const MAX_ANCESTORS = 16

/** Returns the subject to which nodes publish frames. */
export const toSubject = (stream: string) => `log.${stream}`
/** Returns the subject on which the servers republish stored frames. */
export const toLiveSubject = (stream: string) => `log.${stream}.live`

// Keys in the metadata of the stream: the service that owns the log, the version of the format, the name of the cluster,
// and the ancestor (JSON) of a stream that a rescue created.
const SERVICE_METADATA_KEY = 'influencer-stats.service'
const FORMAT_METADATA_KEY = 'influencer-stats.format'
const CLUSTER_METADATA_KEY = 'influencer-stats.cluster'
const ANCESTOR_METADATA_KEY = 'influencer-stats.ancestor'

// Error codes of the server.
const STREAM_NOT_FOUND_CODE = 10_059
const NOT_ENABLED_CODES = new Set([10_039, 10_076])
const INSUFFICIENT_SERVERS_CODES = new Set([10_005, 10_074])

/** Stream of a log. */
export interface OpenedStream {
  readonly jsm: JetStreamManager
  readonly info: StreamInfo
  /** True if this call created it. */
  readonly isNew: boolean
}

/**
 * Finds the stream, or creates it if there is none and this node has no state.
 * @throws StartError `JETSTREAM_OFF`, `LOG_REPLICAS`, `LOG_FOREIGN`, `LOG_FORMAT_UNKNOWN`, `LOG_UNREACHABLE`, `LOG_LOST`,
 * `CLUSTER_MISMATCH`
 */
export async function openStream(nc: NatsConnection, options: LogStreamOptions): Promise<OpenedStream> {
  const deadline = performance.now() + options.timeout
  for (;;) {
    try {
      const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 })
      const found = await findStream(jsm, options.stream)
      if (!found && !options.canCreate) throw new LogLostError(`stream ${options.stream} does not exist`)
      const info = found ?? (await createStream(jsm, options))
      checkQuorum(info)
      checkStream(info, options)
      return { jsm, info, isNew: found === undefined }
    } catch (error) {
      const explained = explainError(error, options)
      // Servers that have just started have no leader yet, and return the same error as servers without JetStream. So
      // this error ends the start only after the timeout.
      const fault = explained?.error ?? explainTimeout(error, options)
      if (explained?.isFinal || performance.now() > deadline) throw fault
      options.onRetry(fault)
      await delay(RETRY_INTERVAL_MS, undefined, { signal: options.signal })
    }
  }
}

/** True if a request failed because the stream does not exist. */
export const isStreamMissing = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND_CODE

/** Resolves with undefined if the stream does not exist. */
export async function findStream(
  jsm: JetStreamManager,
  stream: string,
  options?: Parameters<JetStreamManager['streams']['info']>[1],
): Promise<StreamInfo | undefined> {
  try {
    return await jsm.streams.info(stream, options)
  } catch (error) {
    if (isStreamMissing(error)) return undefined
    throw error
  }
}

/** Creates the stream of a log. @param ancestor position after which it begins; by default it begins at 1 */
export function createStream(
  jsm: JetStreamManager,
  { service, stream, cluster, replicas, storage }: StreamOptions,
  ancestor?: LogAncestor,
): Promise<StreamInfo> {
  return jsm.streams.add({
    name: stream,
    subjects: [toSubject(stream)],
    num_replicas: replicas,
    storage: storage === 'memory' ? StorageType.Memory : StorageType.File,
    // A full stream rejects new frames, instead of removing old ones. Frames remain until they are trimmed.
    discard: 'new',
    deny_delete: true,
    allow_direct: true,
    // A frame that exceeds the maximum message size is sent as several messages. The server stores all of them or none.
    allow_atomic: true,
    republish: { src: toSubject(stream), dest: toLiveSubject(stream) },
    ...(ancestor && { first_seq: ancestor.seq + 1 }),
    metadata: {
      [SERVICE_METADATA_KEY]: service,
      [FORMAT_METADATA_KEY]: String(FORMAT_VERSION),
      ...(cluster && { [CLUSTER_METADATA_KEY]: cluster }),
      ...(ancestor && { [ANCESTOR_METADATA_KEY]: JSON.stringify(ancestor) }),
    },
  })
}

/** Returns the position from which a stream continues; undefined if it began empty. */
export function getAncestor({ config }: Pick<StreamInfo, 'config'>): LogAncestor | undefined {
  const text = config.metadata?.[ANCESTOR_METADATA_KEY]
  return text === undefined ? undefined : JSON.parse(text)
}

/** Returns a position as the ancestor of a log. */
export const toAncestor = ({ epoch, seq, check, ancestors }: LogAncestor): LogAncestor => ({
  epoch,
  seq,
  check,
  ...(ancestors && { ancestors }),
})

/** Returns the earlier logs that a stream continues, newest first. */
export function getAncestors(info: Pick<StreamInfo, 'config'>): LogFork[] {
  const ancestor = getAncestor(info)
  if (!ancestor) return []
  const { epoch, seq, check, ancestors = [] } = ancestor
  return [{ epoch, seq, check }, ...ancestors].slice(0, MAX_ANCESTORS)
}

/** Returns the service and the cluster that a stream names. */
export const getOwner = ({ config }: Pick<StreamInfo, 'config'>) => ({
  service: config.metadata?.[SERVICE_METADATA_KEY],
  cluster: config.metadata?.[CLUSTER_METADATA_KEY] ?? '',
})

/**
 * Checks that a stream is a log of this service and cluster, with a known format and the required configuration.
 * @throws StartError `LOG_FOREIGN`, `CLUSTER_MISMATCH`, `LOG_FORMAT_UNKNOWN`
 */
export function checkStream(
  info: StreamInfo,
  { service, stream, cluster = '' }: Pick<StreamOptions, 'service' | 'stream' | 'cluster'>,
): void {
  const { config } = info
  const owner = getOwner(info)
  const version = config.metadata?.[FORMAT_METADATA_KEY]
  if (owner.service !== service)
    throw new StartError(
      'LOG_FOREIGN',
      `${service}: stream ${stream} is ${owner.service ? `the log of ${owner.service}` : 'not the log of a service'}`,
    )
  if (owner.cluster !== cluster)
    throw new StartError(
      'CLUSTER_MISMATCH',
      `${service}: stream ${stream} belongs to ${describeCluster(owner.cluster)}, and this node to ${describeCluster(cluster)} (--cluster-name)`,
    )
  if (version !== String(FORMAT_VERSION))
    throw new StartError(
      'LOG_FORMAT_UNKNOWN',
      `${service}: stream ${stream} has format ${version}; this version knows ${FORMAT_VERSION}`,
    )
  const isConfigured = config.allow_direct && config.allow_atomic && config.republish?.dest === toLiveSubject(stream)
  if (!isConfigured)
    throw new StartError('LOG_FOREIGN', `${service}: the configuration of stream ${stream} was changed`)
}

/** @param name empty for the cluster without a name */
export const describeCluster = (name: string): string =>
  name === '' ? 'the cluster without a name' : `cluster ${name}`

/**
 * Returns the error to report if the stream cannot be opened; undefined if the cause is not known.
 * `isFinal` is true if a retry cannot help.
 */
function explainError(
  error: unknown,
  { service, stream, replicas }: StreamOptions,
): { error: StartError; isFinal: boolean } | undefined {
  if (error instanceof StartError) return { error, isFinal: true }
  // A server that has just started may not know its streams yet.
  if (error instanceof LogLostError)
    return { error: new StartError(error.code, `${service}: ${error.message}`), isFinal: false }
  if (isNoResponders(error) || (error instanceof JetStreamApiError && NOT_ENABLED_CODES.has(error.code)))
    return {
      error: new StartError('JETSTREAM_OFF', `${service}: JetStream is disabled on these NATS servers`),
      isFinal: false,
    }
  if (error instanceof JetStreamApiError && INSUFFICIENT_SERVERS_CODES.has(error.code)) {
    const message = `${service}: stream ${stream} requires ${replicas} servers (--nats-replicas), and fewer are available`
    return { error: new StartError('LOG_REPLICAS', message), isFinal: error.code === 10_074 }
  }
  return undefined
}

function explainTimeout(error: unknown, { service, stream }: StreamOptions): StartError {
  const { message } = error as Error
  return new StartError('LOG_UNREACHABLE', `${service}: stream ${stream} cannot be opened (${message})`)
}
